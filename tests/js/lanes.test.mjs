import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestMark, ticks, walkMarks } from "../../tmalab/figures/static/lanes.js";

const mark = (key, from, to) => ({ key, from, to });
const lanes = [
  { marks: [mark("a", 0), mark("b", 40), mark("c", 90)] },
  { marks: [] },
  { marks: [mark("d", 10, 80), mark("e", 30, 50)] },
];

test("ticks are round, within the axis and no more than wanted", () => {
  assert.deepEqual(ticks(0, 700, 4), [0, 200, 400, 600]);
  assert.deepEqual(ticks(0, 1, 5).map((one) => one.toFixed(1)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(ticks(130, 470, 4), [200, 300, 400]);
  assert.deepEqual(ticks(5, 5, 4), [5]);
});

test("the shortest of the marks that hold a time is the nearest", () => {
  assert.equal(nearestMark(lanes[2].marks, 35).key, "e");
  assert.equal(nearestMark(lanes[2].marks, 70).key, "d");
  assert.equal(nearestMark(lanes[0].marks, 64).key, "b");
  assert.equal(nearestMark(lanes[0].marks, 66).key, "c");
});

test("the arrow keys walk in time, and over an empty lane to the nearest mark of the next", () => {
  assert.equal(walkMarks("ArrowRight", "a", lanes), "b");
  assert.equal(walkMarks("ArrowRight", "c", lanes), "c");
  assert.equal(walkMarks("ArrowDown", "b", lanes), "e");
  assert.equal(walkMarks("ArrowDown", "next", [{ marks: [mark("next", 30, 40)] }, { marks: [mark("past", 0, 30), mark("with", 30, 90)] }]), "with");
  assert.equal(walkMarks("ArrowUp", "d", lanes), "a");
  assert.equal(walkMarks("ArrowDown", "d", lanes), "d");
  assert.equal(walkMarks("Home", "c", lanes), "a");
  assert.equal(walkMarks("End", "a", lanes), "c");
  assert.equal(walkMarks("x", "a", lanes), null);
  assert.equal(walkMarks("ArrowLeft", "none", lanes), null);
});
