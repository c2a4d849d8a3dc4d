// box_words.js on one small map: what the box takes, where it may go next, its window, and the words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementAt, exists, indicesOf, left, lookUp, nearestPlace, nextPlace, planeExists, boxPosition, readEdit, readList, sentence, tableOf, verdict, windowOf, writeEdit } from "../../tmalab/figures/static/box_words.js";

const FIELDS = { dtype: "float32", global_dim: [4, 2, 2], global_strides: [16, 32], box_dim: [4, 1, 2], element_strides: [1, 1, 1], swizzle: "none", oob_fill: "nan" };
const copy = (x, y, z, more = {}) => ({
  verdict: "runs", faults: [], line: 0, outcome: "ran", differing: 0, of: 64, changed: [],
  taken: [[x, x + 1, x + 2, x + 3], [y], [z, z + 1]], inside: [[Math.max(-x, 0), Math.min(4 - x, 4)], [0, 1], [0, Math.min(2 - z, 2)]],
  row_bytes: [16 * y + 32 * z, z ? null : 16 * y + 32], column_bytes: [4 * x, 4 * x + 4, 4 * x + 8, 4 * x + 12], ...more,
});
const EXAMPLE = {
  name: "cube", label: "cube", fields: FIELDS, first: [0, 1, 0], window: [[0, 4], [0, 2]],
  map: { violations: [], warnings: [], transaction_bytes: 32, footprint_bytes: 32, copied: [4, 1, 2], shared: [0, 4, 8, 12, 16, 20, 24, 28], chunk_elements: 4, fill: "NaN" },
  copies: { "0.1.0": copy(0, 1, 0), "0.0.1": copy(0, 0, 1), "-4.0.0": copy(-4, 0, 0), "0.0.0": copy(0, 0, 0, { differing: 1, changed: [{ element: 2, holds: "bytes 01020304", hex: "01020304" }] }) },
};
const SPEC = { examples: [EXAMPLE] };
const at = (coords, more = {}) => lookUp(SPEC, { example: "cube", coords, base: 0, edit: "", layer: 0, cell: 1, ...more }, new Map());

test("a recorded place is found, another is not told", () => {
  assert.equal(at([0, 1, 0]).measured, true);
  assert.deepEqual(at([]).coords, [0, 1, 0]);
  assert.equal(at([0, 5, 0]).told, null);
  assert.equal(at([0, 1, 0], { base: 128 }).told, null);
  const found = at([0, 5, 0]), answers = new Map([[found.question, { ...EXAMPLE.map, ...copy(0, 5, 0), line: -1 }]]);
  const told = lookUp(SPEC, { example: "cube", coords: [0, 5, 0], base: 0, edit: "", layer: 0, cell: 0 }, answers);
  assert.deepEqual([told.runs, told.measured], [true, false]);
});

test("an element has a position, indices, and may not exist", () => {
  const found = at([0, 0, 1]);
  assert.deepEqual(boxPosition(found, 6), [2, 0, 1]);
  assert.deepEqual(indicesOf(found, 6), [2, 0, 2]);
  assert.deepEqual([exists(found, 2), exists(found, 6)], [true, false]);
  assert.deepEqual([found.layers, found.plane, at([0, 0, 1], { layer: 1 }).singled, at([0, 0, 1], { layer: 9 }).first], [2, 4, 5, 4]);
  assert.deepEqual([planeExists(found, 0), planeExists(found, 4)], [true, false]);
  assert.deepEqual([elementAt(found, 2, 0), elementAt(found, 2, 1), elementAt(at([0, 0, 1], { layer: 1 }), 3, 0)], [2, -1, 7]);
});

test("without Python the box goes from one recorded place to the next", () => {
  assert.deepEqual(nextPlace(EXAMPLE, [0, 0, 0], 1, 1), [0, 1, 0]);
  assert.deepEqual(nextPlace(EXAMPLE, [0, 0, 0], 0, -1), [-4, 0, 0]);
  assert.deepEqual(nextPlace(EXAMPLE, [0, 0, 0], 2, 1), [0, 0, 1]);
  assert.equal(nextPlace(EXAMPLE, [0, 0, 0], 0, 1), null);
  assert.deepEqual(nearestPlace(EXAMPLE, [-3, 0, 0]), [-4, 0, 0]);
});

test("the window shows the tensor and the box, and gives up cells when it is large", () => {
  assert.deepEqual(windowOf(at([0, 1, 0])), { left: 0, top: 0, cols: 4, rows: 2, cells: true });
  assert.deepEqual(windowOf(at([-4, 0, 0])), { left: -4, top: 0, cols: 8, rows: 2, cells: true });
  assert.equal(windowOf(at([0, 900, 0])).cells, false);
});

test("a map in one word is read as it was written, and nothing else is", () => {
  assert.deepEqual(readEdit(writeEdit(FIELDS)), FIELDS);
  for (const text of ["", "float32", "float32;4.2;16;4;1.1;none;none", "float32;4.x;16;4.1;1.1;none;none"]) assert.equal(readEdit(text), null);
  assert.deepEqual(readList(" 16, 8 -3"), [16, 8, -3]);
  for (const text of ["1.5e3", "a", "1, b", "9".repeat(30)]) assert.equal(readList(text), null);
});

test("the sentence says where an element comes from, that it does not exist, or what is wrong", () => {
  assert.equal(sentence(at([0, 1, 0]), 1, "H200"),
    "Box element (1, 0, 0) is tensor element (1, 1, 0), at byte 16 + 4 → shared byte 4. The H200 put it there.");
  assert.equal(sentence(at([0, 0, 1]), 5, "H200"),
    "Box element (1, 0, 1) is tensor element (1, 0, 2), which does not exist → shared byte 20 is filled with NaN, and counted. The H200 filled it.");
  assert.match(sentence(at([0, 0, 0]), 2, "H200"), /shared byte 8\. The H200 left bytes 01020304 there\.$/);
  assert.equal(sentence(at([0, 5, 0]), 0, "H200"), "Nobody has computed this state yet.");
  const refused = { ...at([0, 1, 0]), told: { verdict: "refused", violations: [{ message: "No.", fix: "Do." }], faults: [], outcome: "refused", shared: null } };
  assert.equal(sentence(refused, 0, "H200"), "The driver refuses the map, so there is nothing to copy with. The H200's driver refused it.");
  assert.deepEqual(verdict(refused), ["No. Do."]);
});

test("the table has a row an element, and says which one differs", () => {
  assert.equal(left(at([0, 0, 0]), 2), "bytes 01020304");
  assert.deepEqual(tableOf(at([0, 0, 0]))[2], ["(2, 0, 0)", "8", "bytes 01020304", "element (2, 0, 0)", "differs"]);
  assert.deepEqual(tableOf(at([0, 0, 0])).map((row) => row[4]).filter((word) => word !== "equal"), ["differs"]);
  assert.deepEqual(tableOf(at([0, 5, 0])), []);
});
