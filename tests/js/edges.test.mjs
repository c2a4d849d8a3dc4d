// edges.js on a load of two elements and a store of one: what differs, each sentence, and the table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, readEdges, sayOther, tableOf, verdict } from "../../tmalab/figures/static/edges.js";

const labels = { "43000000": ["128", "", "128"], "00000000": ["0", "", "0"], cdcdcdcd: ["", "", "untouched"], "43000001": ["4300", "0001", "43000001"] };
const LOAD = {
  name: "load", direction: "load", bytes: 4, window: [0, 0, 2, 1], shared: [128, 0, 3, 1], coords: [[0, 0], [1, 0]],
  memory_cells: [0, 1], shared_cells: [0, 1], kinds: ["in", "out"], labels, words: ["First.", "Second."], elsewhere: 0,
  given: ["43000000", ""], model: ["43000000", "00000000", "cdcdcdcd"], hardware: ["43000000", "43000001", "cdcdcdcd"],
};
const STORE = {
  ...LOAD, name: "store", direction: "store", window: [-1, 3, 2, 1], coords: [[0, 3]], memory_cells: [1], shared_cells: [0], kinds: ["clip"],
  given: ["43000000", "00000000", "00000000"], model: ["", "43000000"], hardware: null, elsewhere: 2,
};
const SPEC = { choices: { experiment: ["load", "store"] }, experiments: [LOAD, STORE] };
const at = (experiment, view = "hardware") => readEdges(SPEC, { experiment, view });

test("a load is compared in shared memory, element by element", () => {
  const found = at("load");
  assert.deepEqual([...found.unequal], [1]);
  assert.equal(count(found), "1 of 3 elements differs");
  assert.equal(verdict(found, "hardware", 0), " Measured: so it is.");
  assert.equal(verdict(found, "difference", 1), " Measured: 43000001, where the model says 0.");
  assert.equal(verdict(found, "model", 1), "");
  assert.deepEqual(at("load", "model").shown, LOAD.model);
});

test("what is no element of the box is told by its place", () => {
  assert.equal(sayOther(at("load"), "hardware", 2, true), "Shared byte 136: untouched.");
  assert.equal(sayOther(at("load"), "hardware", 1, false), "Row 0, column 1: no memory has this place.");
  assert.equal(sayOther(at("store"), "hardware", 1, false), "Row 3, column 0: 128, not in the box.");
});

test("an experiment without a recording is the model's, and counts what is not drawn", () => {
  const found = at("store");
  assert.equal(found.measured, false);
  assert.equal(verdict(found, "hardware", 1), " Model, not measured.");
  assert.equal(count(found), "0 of 1 elements differ, and 2 bytes that are not drawn");
  assert.deepEqual(tableOf(found), [{ key: 1, cells: ["0, 0", "3, 0", "written, past the tensor", "not measured", "128", "–"] }]);
});

test("the table has a row an element of the box, and one for each other that differs", () => {
  const moved = { ...LOAD, hardware: ["43000000", "00000000", "00000000"] };
  const rows = tableOf(readEdges({ ...SPEC, experiments: [moved, STORE] }, { experiment: "load", view: "hardware" }));
  assert.deepEqual(rows.map((row) => row.cells[2]), ["copied", "filled", "–"]);
  assert.deepEqual(rows[2].cells, ["–", "shared byte 136", "–", "0", "untouched", "differs"]);
});
