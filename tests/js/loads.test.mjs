// loads.js on a run of two marks: the views, a step past the end, what is not measured, and the table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readLoads, tableOf } from "../../tmalab/figures/static/loads.js";

const mark = (key, from, to, kind) => ({ key, from, to, kind, text: key, say: `${key} said` });
const RUN = {
  lanes: [{ name: "producer", note: "warp 0", marks: [mark("arm", 60, 85, "solid"), mark("land-A", 300, 400, "outline")] },
    { name: "bytes", note: "", marks: [mark("bytes-0", 0, 85, "soft"), { ...mark("median", 390, undefined, "solid"), text: "" }] }],
  order: ["arm", "land-A"], end: 500, head: "Issuing cost", cycles_per_ns: 2, line: 0, differs: ["land-A"], difference: "1 of 6",
};
const MODEL = { lanes: [{ name: "producer", note: "", marks: [mark("arm", 0, 1, "solid")] }], order: ["arm"], end: 2, head: "An order", line: "Model, not measured." };
const SPEC = { choices: { warmth: ["warm", "cold"] }, model: MODEL };
const PROVENANCE = { lines: ["Recorded"], states: [RUN, null] };
const at = (view, warmth = "warm", step = 0) => readLoads(SPEC, PROVENANCE, { view, warmth, step });

test("a measured run has two axes, and its step is one that it has", () => {
  const found = at("hardware", "warm", 9);
  assert.deepEqual(found.units, [["cycles", 1], ["ns", 0.5]]);
  assert.equal(found.key, "land-A");
  assert.equal(found.source, "Recorded");
  assert.equal(found.head, "Issuing cost");
});

test("in the difference what is equal fades, what is not stands, and counts stay", () => {
  const kinds = at("difference").lanes.flatMap((lane) => lane.marks.map((one) => one.kind));
  assert.deepEqual(kinds, ["soft", "wrong", "soft", "solid"]);
  assert.equal(at("difference").head, "1 of 6");
});

test("the model has steps and no nanoseconds, and what is not recorded is the model's", () => {
  assert.deepEqual(at("model").units, [["steps", 1]]);
  assert.equal(at("model").head, "An order");
  assert.equal(at("hardware", "cold").head, "Model, not measured. An order");
  assert.equal(at("difference", "cold").source, "Model, not measured.");
});

test("the table has a row a mark", () => {
  const { head, rows } = tableOf(at("hardware"));
  assert.equal(head[2], "From (cycles)");
  assert.deepEqual(rows[0].cells, ["producer, warp 0", "arm", "60", "85", "30", "arm said"]);
  assert.deepEqual(rows[3].cells.slice(0, 5), ["bytes", "–", "390", "–", "195"]);
  assert.equal(tableOf(at("model")).head[2], "From (steps)");
  assert.equal(tableOf(at("model")).rows[0].cells[4], "–");
});
