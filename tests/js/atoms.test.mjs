// atoms_words.js on a slice of two rows and 16 chunks in two groups: what is looked up, each sentence, and the table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { atomOf, count, held, keyOf, lookUp, sayBoth, sayChunk, sayPlace, sayRefused, tableOf } from "../../tmalab/figures/static/atoms_words.js";

const two = (number) => number.toString(16).padStart(2, "0");
const line = (numbers) => "0:" + numbers.map((one) => (one < 0 ? ".." : two(one))).join("");
const row = (first) => [...Array(8).keys()].map((one) => first + one);
// Shared memory: row 0 and row 1 of group 0; each row of a group takes one line here, line 1 is XORed with 1.
const LINEAR = line([...row(0), ...row(16)]);
const SWIZZLED = line([...row(0), ...row(16).map((_, i, all) => all[i ^ 1])]);
const LATE = line([...row(0), ...row(16).map((_, i, all) => (i === 2 ? -1 : all[i ^ 1]))]);
const BYTES = "0:" + [...row(0)].map(two).join("") + "!!";
const run = (table, changed = []) => ({ table, line: table < 0 ? -1 : 0, changed });
const BROKEN = { rule: "span", field: "box_dim[0]", value: "256", limit: "128", message: "256 is too wide.", fix: "Use 64." };
const VIEWS = [
  { groups: 2, width: 8, pitch: 128, atom: 256, atoms: 2, lines: 2, phases: [0, 1], linear: 0, model: 1, fields: [["f"], ["f"]], verdicts: ["", ""], refused: null,
    runs: { "3-D": [run(1), run(2)], "2-D": [run(-1), run(3, [{ chunk: 8, bytes: "ff", byte: 128, is: "ff", not: "08" }])] } },
  { groups: 1, width: 16, fields: [["f"], ["f"]], refused: { "3-D": { broken: [BROKEN], accepted: false, line: 0 }, "2-D": { broken: [BROKEN], accepted: null, line: -1 } } },
];
const SPEC = {
  matrix: { rows: 2, chunks: 32, slice: 16 }, background: "cd", tables: [LINEAR, SWIZZLED, LATE, BYTES], views: VIEWS,
  choices: { swizzle: ["x"], group: [128, 256], col: [0, 128], copies: ["3-D", "2-D"] },
};
const at = (change = {}) => lookUp(SPEC, { swizzle: "x", group: 128, col: 0, copies: "3-D", view: "hardware", ...change });

test("a chunk of the slice is told by its coordinates, its atom and its XOR", () => {
  assert.equal(sayChunk(at(), 18), "Row 1, column 16 = {16, 1, 0} → g0, atom 0, row 1 → place 2 XOR 1 = 3, as line 1 mod 2 = 1 → shared byte 176. Measured: so it is.");
  assert.equal(sayChunk(at({ view: "model", col: 128 }), 18), "Row 1, column 144 = {16, 1, 2} → g0, atom 0, row 1 → place 2 XOR 1 = 3, as line 1 mod 2 = 1 → shared byte 176.");
  assert.match(sayChunk(at({ copies: "2-D" }), 18), /^Row 1, column 16 → copy 1 of 2, g0, .* Model, not measured\.$/);
});

test("what the hardware left elsewhere or changed differs, and nothing else", () => {
  const late = at({ col: 128 });
  assert.deepEqual([...late.unequal], [10]);
  assert.equal(count(late), "1 of 16 chunks differs");
  assert.match(sayChunk(late, 19), / Measured: untouched, where the model says row 1, column 152\.$/);
  assert.equal(sayPlace(SPEC, late, 10), "Shared byte 160, g0, atom 0, row 1. Measured: untouched, where the model says row 1, column 152.");
  const bytes = at({ col: 128, copies: "2-D" });
  assert.equal(held(bytes, bytes.hardware, 8), "bytes ff");
  assert.equal(tableOf(bytes).rows.filter(({ cells }) => cells[6] === "differs").length, 8);
  assert.equal(bytes.shown, bytes.hardware);
});

test("padding is told as such, and a place behind the box too", () => {
  const found = at();
  assert.match(sayPlace(SPEC, found, 20), /^Shared byte 320, g0, atom 1, row 0: padding\. No copy wrote it; it still holds cd/);
  assert.equal(atomOf(found, 9), "atom 0, row 1");
  assert.equal(tableOf(found).rows.length, 16);
  assert.deepEqual(tableOf(found).rows[9].cells, ["144", "g0", "atom 0, row 1", "1", "row 1, column 0", "row 1, column 0", "equal"]);
});

test("a view that the driver refuses has a rule and no bytes", () => {
  const found = at({ group: 256 });
  assert.equal(sayRefused(found), "Refused: 256 is too wide. Use 64. Measured: the driver refuses it.");
  assert.deepEqual(tableOf(found).rows, [{ key: 0, cells: ["span", "box_dim[0]", "256", "128", "Use 64.", "refused"] }]);
  assert.equal(sayRefused(at({ group: 256, copies: "2-D" })), "Refused: 256 is too wide. Use 64. Model, not measured.");
  assert.equal(sayBoth(found), "By the model, the driver refuses both.");
  const both = (accepted) => sayBoth({ one: { refused: { "3-D": { accepted: false }, "2-D": { accepted } } } });
  assert.equal(both(false), "Measured: the driver refuses both.");
  assert.equal(both(true), "The driver took what the model calls refused.");
});

test("the key speaks of colour where cells have some", () => {
  assert.match(keyOf(false), /Its number and its colour: which chunk/);
  assert.match(keyOf(true), /Its number: which chunk .* Dashed: differs$/);
});
