// "A coordinate tensor" without a page: numbers unpacked, shades, calls and sentences.
import assert from "node:assert/strict";
import { test } from "node:test";
import { callsOf, cellOf, keyOf, lanesOf, readRun, sentence, sourceOf, tableOf, unpackTiles } from "../../tmalab/figures/static/coordinates_words.js";

const spec = {
  strips: 5, tiles: 2, tile: [64, 256], across: [0, 256], down: [0, 64, 128, 192, 256],
  calls: [["local_tile(…, {index})", "{at} o (64,256)"], ["copy", "{coords}"]],
};
const measured = { issued: "0 5k*9", taken: "64*1 0*9", differ: "0*9 1", sm: "4 -1*4", tick: 32, elements: 163840, end: 2000, bins: { landed: [0, 500, 5], SM: [0, 1, 5] } };
const run = readRun(spec, { measured, line: "Recorded on a GPU" });
const state = { view: "hardware", shown: "landed", block: 1, column: 1 };

test("numbers are differences in base 36, with how often each comes", () => {
  assert.deepEqual(unpackTiles("a 5*3 -k"), [10, 15, 20, 25, 5]);
});

test("a tile is complete as long after its issue as it took", () => {
  assert.equal(run.issued[9], 9 * 200);
  assert.equal(run.landed[9], 9 * 200 + 6 * 36 + 4);
});

test("the shade is that of the key's stretch that holds the value", () => {
  const [text, shade] = cellOf(spec, run, state, 9);
  assert.equal(text, "2.0");
  assert.deepEqual(keyOf(run, state).at(-1), [shade, "2 to 2.5"]);
  assert.deepEqual(cellOf(spec, run, { ...state, shown: "SM" }, 9)[0], "0");
  assert.deepEqual(cellOf(spec, run, { ...state, view: "model" }, 3), ["1,1", null]);
});

test("the calls name the chosen tile, its start innermost first", () => {
  assert.deepEqual(callsOf(spec, state), [["local_tile(…, (1, 1))", "(256,64) o (64,256)"], ["copy", "{256, 64}"]]);
});

test("the sentences say what is shown", () => {
  assert.match(sentence(spec, run, state, 3), /^Tile \(1, 1\), rows 64 to 127 and columns 256 to 511: block 1 ran on SM 3\. The load was issued 600 ns/);
  assert.match(sentence(spec, run, { ...state, view: "difference" }, 9), /1 of 16384 elements differ from the matrix, and 1 of 163840 in all/);
  assert.match(sentence(spec, run, { ...state, view: "model" }, 3), /element \(64, 256\), which the instruction is told as \{256, 64\}/);
});

test("without a run the model stands alone", () => {
  const none = readRun(spec, { measured: null, line: null });
  assert.match(sourceOf(none, state), /not measured/);
  assert.match(sentence(spec, none, state, 3), /Not measured\.$/);
  assert.deepEqual(lanesOf(spec, none, state), []);
  assert.deepEqual(tableOf(spec, none)[4].cells, ["4", "256 to 319", "–", "–", "–", "–"]);
});

test("the chart begins with the chosen block, and no block stands twice", () => {
  const names = lanesOf(spec, run, state).map(({ name }) => name);
  assert.equal(names[0], "block 1");
  assert.equal(new Set(names).size, names.length);
  assert.equal(lanesOf(spec, run, state)[0].marks[1].kind, "solid");
});
