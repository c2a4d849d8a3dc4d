// tile_words.js on a tensor of 2 x 4 chunks that is small enough to write down: what is looked up, and each sentence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, held, lookUp, sayBox, sayShared, tableOf } from "../../tmalab/figures/static/tile_words.js";

// Two rows of eight chunks; shared memory of two lines and one to spare. In "x" line 1 is XORed with 1.
const SPEC = {
  tensor: { rows: 2, chunks: 8 },
  smem: { chunks: 24, lines: 3, background: "cd" },
  banks: ["0–3", "4–7", "8–11", "12–15", "16–19", "20–23", "24–27", "28–31"],
  choices: { swizzle: ["none", "x"], row: [0], col: [0], base: [0, 128] },
  columns: [0],
  swizzles: {
    none: { box: [64, 2], chunks: 8, bytes: 256, period: 1, phases: [0, 0, 0], linear: [...Array(16).keys()] },
    x: { box: [64, 2], chunks: 8, bytes: 256, period: 2, phases: [0, 1, 0], linear: [...Array(16).keys()] },
  },
  tables: [
    "0:000102030405060708090a0b0c0d0e0f", "8:000102030405060708090a0b0c0d0e0f", // none at 0 and 128
    "0:000102030405060709080b0a0d0c0f0e", "8:010003020504070608090a0b0c0d0e0f", // x at 0 and 128
    "0:000102030405060709!!0b0a0d0c0f0e", // x at 0 with one byte changed
  ],
  model: [0, 1, 2, 3], hardware: [0, 1, 2, -1], changed: {},
};
const FLIPPED = { ...SPEC, hardware: [0, 1, 4, -1], changed: { 2: [{ chunk: 9, bytes: "ff", byte: 147, is: "ff", not: "48" }] } };
const at = (swizzle, base) => ({ swizzle, row: 0, col: 0, base });
const say = (spec, state, index, view = "hardware") => sayBox(spec, state, lookUp(spec, state), index, view, "H200");

test("the sentence gives the XOR in words", () => {
  assert.equal(say(SPEC, at("x", 0), 13), "Row 1, column 5 → chunk 5 XOR row 1 = 4 → shared byte 192, banks 16–19. The H200 put it there.");
  assert.equal(say(SPEC, at("x", 0), 13, "model"), "Row 1, column 5 → chunk 5 XOR row 1 = 4 → shared byte 192, banks 16–19.");
  assert.equal(say(SPEC, at("none", 0), 13), "Row 1, column 5 → no swizzle: it stays chunk 5 of line 1 → shared byte 208, banks 20–23. The H200 put it there.");
});

test("away from address 0 it names the line of shared memory, and says how the line becomes the operand", () => {
  assert.match(say(SPEC, at("x", 128), 5), /unswizzled it is chunk 5 of line 1: chunk 5 XOR line 1 = 4 → shared byte 192/);
  assert.match(say(SPEC, at("x", 128), 13), /chunk 5 of line 2: chunk 5 XOR 0 = 5, as line 2 mod 2 = 0 → shared byte 336/);
});

test("a state without a recording is the model's, and claims nothing of the hardware", () => {
  const found = lookUp(SPEC, at("x", 128));
  assert.equal(found.measured, false);
  assert.doesNotMatch(say(SPEC, at("x", 128), 5), /H200/);
  assert.ok(tableOf(SPEC, found).every((row) => row.hardware === "not measured" && row.equal === null));
});

test("one changed byte is told where it stands, and nowhere else", () => {
  const found = lookUp(FLIPPED, at("x", 0));
  assert.deepEqual([...found.unequal], [9]);
  assert.equal(count(found), "1 of 16 chunks differs");
  assert.match(say(FLIPPED, at("x", 0), 8), /The H200 did not put it there: byte 147 is ff, the model says 48\.$/);
  assert.equal(held(FLIPPED, found, found.hardware, 9), "bytes ff");
  assert.equal(sayShared(FLIPPED, found, 9), "Shared byte 144, banks 4–7: byte 147 is ff, the model says 48.");
  assert.equal(sayShared(FLIPPED, found, 20), "Shared byte 320, banks 16–19: untouched, still 0xcd in every byte.");
  assert.deepEqual(tableOf(FLIPPED, found).filter((row) => !row.equal), [
    { shared_byte: 144, banks: "4–7", hardware: "ff", model: [1, 0], equal: false },
  ]);
  assert.deepEqual(lookUp(FLIPPED, at("none", 0)).unequal.size, 0);
});

test("a chunk that the hardware put elsewhere is found there", () => {
  const moved = { ...SPEC, hardware: [0, 1, 0, -1] };
  assert.match(say(moved, at("x", 0), 8), /shared byte 144, banks 4–7\. The H200 put it at shared byte 128, banks 0–3\.$/);
  assert.equal(count(lookUp(moved, at("x", 0))), "8 of 16 chunks differ");
});
