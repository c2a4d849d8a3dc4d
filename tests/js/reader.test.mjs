// reader.js on one recorded tile of 2 x 8 chunks: where a reader looks, what it gets, and the sentence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readTile, sayChunk, tableOf } from "../../tmalab/figures/static/reader.js";

const LINEAR = [...Array(16).keys()];
const XORED = LINEAR.map((chunk) => (chunk < 8 ? chunk : chunk ^ 1));
const SPEC = {
  choices: { writer: ["x"], reader: ["linear", "address"], base: [0, 128] },
  held: [XORED, XORED.map((chunk) => (chunk === 9 ? -1 : chunk))],
  places: { linear: [LINEAR, LINEAR], address: [XORED, XORED] },
};
const at = (reader, base = 0) => ({ writer: "x", reader, base });

test("a reader gets what stands where it looks", () => {
  assert.deepEqual([...readTile(SPEC, at("linear")).wrong], [8, 9, 10, 11, 12, 13, 14, 15]);
  assert.equal(readTile(SPEC, at("address")).wrong.size, 0);
});

test("the sentence names both chunks, and counts", () => {
  assert.equal(sayChunk(at("linear"), readTile(SPEC, at("linear")), 8),
    "Row 1, chunk 0: the reader looks at shared byte 128 and finds row 1, chunk 1. 8 of 16 chunks are wrong.");
  assert.match(sayChunk(at("address"), readTile(SPEC, at("address")), 8), /byte 144 and finds the chunk it wants\. 0 of 16/);
});

test("a place that holds no chunk is told as such", () => {
  const state = at("address", 128), found = readTile(SPEC, state);
  assert.deepEqual([...found.wrong], [9]);
  assert.deepEqual(tableOf(state, found)[9], ["row 1, chunk 1", "256", "no chunk of the tile", "wrong"]);
});
