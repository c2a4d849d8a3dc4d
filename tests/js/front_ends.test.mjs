// "One tile, many front ends" without a page: chunks unpacked, cells, marks and sentences.
import assert from "node:assert/strict";
import { test } from "node:test";
import { besideOf, chipOf, dataOf, labelsOf, lookUp, marksOf, sentence, tableOf, verdictOf } from "../../tmalab/figures/static/front_ends_words.js";

// Two lines; in the second way chunk 9 is wrong.
const right = "0:000102030405060708090a0b0c0d0e0f".replace("08090a0b0c0d0e0f", "09080b0a0d0c0f0e");
const fields = [["rank", "2", "2", "2"], ["l2_promotion", "none", "128B", "128B"], ["box_bytes", "4096", "0", "4096"], ["x", "–", "1", "–"]];
const way = (name, changes = {}) => ({
  name, model: right, hardware: right, changed: [], differ: 0, fields, unlike: [], refused: null, call: "cp.async.x", coords: [128, 96], ...changes,
});
const spec = {
  lines: 2, task: { at: [96, 128] },
  ways: [
    way("one"), way("two", { hardware: right.replace("09080b", "09!!0b"), changed: [{ chunk: 9, is: "ff", not: "10" }], differ: 3, unlike: ["box_bytes"] }),
    way("three", { hardware: null, differ: null, unlike: null, refused: { type: "TypingError", message: "no" } }),
    way("four", { hardware: null, differ: null, unlike: null, call: "" }),
  ],
};
const one = { line: "Recorded on a GPU", version: "1.2", ptx: ["cp.async.x [%r1];"] };
const provenance = { ways: [one, one, one, null] };
const found = (name, view = "hardware") => lookUp(spec, provenance, { view, way: name });

test("a cell says its chunk of the row and the row of the box", () => {
  assert.deepEqual(labelsOf(found("one"), "hardware", 8), ["1", "1"]);
  assert.deepEqual(labelsOf(found("two"), "hardware", 9), ["0xff", "≠ 10"]);
  assert.deepEqual(labelsOf(found("two", "model"), "model", 9), ["0", "1"]);
});

test("the sentences say where a chunk comes from and what the model says", () => {
  const state = { view: "hardware" };
  assert.equal(sentence(spec, found("one"), state, 8), "Shared byte 128: row 97, columns 136 to 143 of the tensor. Chunk 1 of the row, in place 0 of line 1. The model says the same; 0 of 256 bytes differ in all.");
  assert.match(sentence(spec, found("two"), state, 9), /no chunk of the tile\. The model says row 97, columns 128 to 135 of the tensor; 3 of 256 bytes/);
  assert.equal(sentence(spec, found("three"), state, 9), "three refused: TypingError. Nothing was loaded.");
  assert.match(sentence(spec, found("three", "model"), { view: "model" }, 9), /place 1 of line 1\.$/);
  assert.match(sentence(spec, found("four"), state, 9), /Not measured\.$/);
});

test("a field that is not the driver's is wrong, one that was not asked for is the front end's own", () => {
  assert.deepEqual(marksOf(spec.ways[0]), ["", "own", "wrong", ""]);
  assert.deepEqual(spec.ways.map(besideOf), ["equal", "differs in box_bytes", "–", "–"]);
  assert.deepEqual(spec.ways.map(chipOf), ["tile equal · map equal", "tile differs · map differs", "refused", "not measured"]);
  assert.deepEqual(spec.ways.map(verdictOf), ["equal", "3 bytes differ", "refused", "not measured"]);
});

test("the table has a row a way", () => {
  const rows = tableOf(spec, provenance).map(({ cells }) => cells);
  assert.deepEqual(rows[0], ["one", "1.2", "equal", "equal", "l2_promotion 128B, box_bytes 0", "cp.async.x"]);
  assert.deepEqual(rows[2].slice(0, 4), ["three", "1.2", "refused: TypingError", "–"]);
  assert.deepEqual(rows[3].slice(1, 3), ["–", "not measured"]);
});

test("the data are the chunks, by row and chunk", () => {
  assert.deepEqual(dataOf(found("one")).smem[8], [1, 1]);
  assert.equal(dataOf(found("two")).smem[9], null);
  assert.equal(dataOf(found("four")).smem, null);
  assert.equal(found("four").source, "Model, not measured: there is no recording of this way.");
});
