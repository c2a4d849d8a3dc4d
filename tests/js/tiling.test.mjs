// tiling_words.js on a grid of 2 x 16 chunks that is small enough to write down: what is looked up, and each sentence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { costs, count, dataOf, lost, readTiling, refusal, results, sayChunk, sayPlace, tableOf, wrong } from "../../tmalab/figures/static/tiling_words.js";

const hex = (chunks) => `0:${chunks.map((chunk) => (chunk < 0 ? "!!" : chunk.toString(16).padStart(2, "0"))).join("")}`;
// Two rows of 16, whole and in order; and with each row's lines XORed with 2 row + half.
const LINEAR = [...Array(32).keys()];
const XORED = LINEAR.map((place) => (place & ~7) | ((place & 7) ^ (place >> 3)));
const FLIPPED = XORED.map((chunk) => (chunk === 21 ? -2 : chunk));
const layout = (number, more = {}) => ({
  model: [number], hardware: [number], changed: {}, filled: "local_col {local}, no XOR", maps: [{ copy: "", about: "" }], refused: null, ...more,
});
const XOR = { filled: "local_col {local} XOR ((2*{row} + {half}) % 8) = {group}", refused: [{ accepted: false }] };
const SPEC = {
  grid: { rows: 2, columns: 16, reads: 2 }, banks: ["0–3", "4–7", "8–11", "12–15", "16–19", "20–23", "24–27", "28–31"],
  choices: { tiling: ["no"], swizzle: ["128B", "none"], column: [5], first_row: [0], dtype: ["float16"], view: ["hardware", "model", "difference"] },
  tables: [hex(XORED), hex(LINEAR), hex(FLIPPED)], layouts: [layout(0, XOR), layout(1)], predicted: "12",
};
const changed = { 0: [{ chunk: 23, bytes: "ff00", byte: 368, is: "ff", not: "a8" }] };
const WRONG = { ...SPEC, layouts: [layout(0, { ...XOR, hardware: [2], changed }), layout(1)] };
const UNSEEN = { ...SPEC, layouts: [layout(0, { ...XOR, hardware: [-1], refused: [{ accepted: null }] }), layout(1)] };
const COUNTED = new Map([[SPEC, "12"], [WRONG, "32"], [UNSEEN, null]]);
const read = (spec, swizzle = "128B", view = "hardware") =>
  readTiling(spec, { tiling: "no", swizzle, column: 5, first_row: 0, dtype: "float16", view, cell: [0, 5] }, COUNTED.get(spec));

test("the sentence fills the formula in, and names who wants the same banks", () => {
  const found = read(SPEC);
  assert.equal(sayChunk(SPEC, found, 21), "Row 1, column 5 → local_col 5 XOR ((2*1 + 0) % 8) = 7 → S7, banks 28–31, shared byte 368. No other of the eight reads wants its banks. Measured: so it is.");
  assert.equal(results(found), "5 7: 2 distinct");
  const plain = read(SPEC, "none");
  assert.match(sayChunk(SPEC, plain, 21), /local_col 5, no XOR → S5, banks 20–23, shared byte 336\. Of the eight reads row 0 wants its banks too\./);
  assert.equal(results(plain), "5 5: 1 distinct");
  assert.deepEqual(plain.stacks[5], [5, 21]);
  assert.doesNotMatch(sayChunk(SPEC, plain, 6), /reads/);
});

test("the cost, in each view", () => {
  assert.deepEqual(costs(read(SPEC)), ["predicted: 1 wavefront (no conflict)", "measured: 1 wavefront"]);
  assert.deepEqual(costs(read(SPEC, "none", "model")), ["predicted: 2 wavefronts (2-way conflict)"]);
  assert.deepEqual(costs(read(SPEC, "none", "difference")).slice(1), ["measured: 2 wavefronts", "they agree"]);
  assert.deepEqual(costs(read(WRONG, "128B", "difference")).slice(1), ["measured: 3 wavefronts", "they differ"]);
});

test("a changed chunk is wrong in its place, lost from the grid, and told", () => {
  const found = read(WRONG);
  assert.deepEqual([...found.unequal], [23]);
  assert.equal(count(found), "1 of 32 chunks differs");
  assert.ok(wrong(found, 23) && lost(found, 21) && !lost(found, 5));
  assert.match(sayChunk(WRONG, found, 21), / Measured: it holds bytes ff00\.$/);
  assert.equal(sayPlace(WRONG, found, 23), "S7, banks 28–31, shared byte 368: bytes ff00; the model says row 1, column 5.");
  assert.equal(results(found), "5 –: 1 distinct");
  assert.deepEqual(tableOf(WRONG, found)[1], { key: 23, cells: ["1", "1, 5", "S7", "28–31", "368", "bytes ff00", "differs"] });
  const model = read(WRONG, "128B", "model");
  assert.ok(!wrong(model, 23) && !lost(model, 21));
});

test("what no recording backs claims nothing of the hardware", () => {
  const found = read(UNSEEN);
  assert.match(sayChunk(UNSEEN, found, 5), / Model, not measured\.$/);
  assert.deepEqual(costs(found).slice(1), ["not counted on a GPU"]);
  assert.equal(refusal(found.refused), "refused, says the model");
  assert.equal(refusal(read(SPEC).refused), "refused by the driver");
  assert.deepEqual(tableOf(UNSEEN, found)[0].cells.slice(5), ["not measured", "–"]);
  assert.equal(dataOf(found).hardware_shared_bytes, null);
  assert.deepEqual(dataOf(found).model_shared_bytes[21], [368]);
});
