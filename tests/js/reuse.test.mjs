// reuse_words.js on one and two stores of four lines each: what is covered, what was overwritten, each sentence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, fate, hits, lanesOf, note, program, readReuse, says, sentence, shade, tableOf, unpackRuns } from "../../tmalab/figures/static/reuse_words.js";

// Waits: none, .read 0, .read 1, full 0, full 1. States: 1 store (commits 0, 1), then 2 stores (commits 0 … 3).
const letters = ["n", "o", "o", "o", "o", "n", "c", "p", "c", "p"];
const two = ["nn", "oo", "oo", "oo", "oo", "nn", "co", "po", "co", "po", "nn", "cc", "pp", "cc", "pp", "nn", "cc", "cp", "cc", "cp"];
const SPEC = {
  lines: 4, waits: 5, choices: { stores: [1, 2], n: [0, 1] }, groups: [[-1], [0], [-1, -1], [0, -1], [0, 0], [0, 1]],
  model: [...letters, ...two].map((one) => [[...one].map((letter) => "cpon".indexOf(letter)).join(""), [...one].every((letter) => letter === "c") ? 1 : 0]),
  said: [["race", "wait_group.read 0 before it"], ["completes", ""]],
};
const SEEN = [3, [0, 3], "0*4 1 2 5*2", [10, 20, 30, 40, 50, 60]];
const states = [...letters.map(() => null), ...two.map(() => SEEN)];
const PROVENANCE = { lines: ["Here."], runs: [null, { line: 0, rounds: 5, cycles_per_ns: 2, end: 60 }], states };
const at = (changed = {}) => readReuse(SPEC, PROVENANCE, { stores: 2, commits: 3, wait: "full", n: 1, view: "hardware", line: 7, ...changed });

test("runs of numbers", () => {
  assert.deepEqual(unpackRuns("0*3 2 40*2"), [0, 0, 0, 2, 40, 40]);
  assert.deepEqual([0, 1, 20, 40].map((count) => shade(count, 40)), [0, 1, 4, 7]);
});

test("the steps, and where each store ends up", () => {
  assert.deepEqual(program(at()), ["store 0", "commit_group", "store 1", "commit_group", "wait_group 1", "overwrite"]);
  assert.deepEqual(program(at({ stores: 1, commits: 3, wait: "none" })), ["store 0", "commit_group", "overwrite"]);
  assert.equal(fate(at(), 0), "group 0, waited for");
  assert.equal(fate(at(), 1), "group 1, left pending");
  assert.equal(fate(at({ commits: 1, n: 0 }), 1), "in no group");
  assert.equal(fate(at({ wait: "none" }), 1), "group 1, no wait");
});

test("what was seen beside what the machine says", () => {
  assert.equal(hits(at(), 1), "overwritten in 3 of 5 rounds");
  assert.equal(hits(at({ view: "model" }), 1), "may be overwritten");
  assert.equal(hits(at({ stores: 1 }), 0), "not measured");
  assert.equal(says(at()), "BarrierProgram says: race. Fix: wait_group.read 0 before it. Seen: overwritten bytes in 3 of 5 rounds.");
  assert.equal(says(at({ stores: 1, n: 0 })), "BarrierProgram says: completes. Model, not measured.");
  assert.equal(note(at()), "0 of 4 lines that the wait covers were overwritten");
  assert.equal(note(at({ n: 0 })), "4 of 8 lines that the wait covers were overwritten");
  assert.equal(note(at({ wait: "none" })), "the wait covers no line");
});

test("sentences", () => {
  assert.equal(sentence(at()), "Store 1, line 3: wait_group 1 leaves the newest group pending, which is its own. It reached global memory overwritten in 5 of 5 rounds.");
  assert.equal(sentence(at(), 0), "Store 0, line 0: wait_group 1 waits for its group, 0. It reached global memory overwritten in 0 of 5 rounds.");
  assert.equal(sentence(at({ n: 0, wait: ".read" }), 4), "Store 1, line 0: wait_group.read 0 waits for its group, 1. It reached global memory overwritten in 1 of 5 rounds. The model says never.");
  assert.equal(sentence(at({ wait: "none" }), 0), "Store 0, line 0: nothing waits for it. It reached global memory overwritten in 0 of 5 rounds. A race all the same.");
  assert.equal(sentence(at({ stores: 1, commits: 0 })), "Store 0, line 3: no commit_group follows it, so no wait waits for it. It may be overwritten before the engine has read it. Model, not measured.");
  assert.equal(sentence(at({ view: "model" }), 0), "Store 0, line 0: wait_group 1 waits for its group, 0. It is safe.");
});

test("the table has a row a stretch of lines that are alike", () => {
  assert.deepEqual(tableOf(at()).map(({ key, cells }) => [key, cells[1], cells[3], cells[5]]), [
    [0, "0 to 3", "0 of 5", "equal"], [4, "0 to 0", "1 of 5", "equal"], [5, "1 to 1", "2 of 5", "equal"], [6, "2 to 3", "5 of 5", "equal"],
  ]);
  assert.deepEqual(tableOf(at({ stores: 1 }))[0].cells, ["0", "0 to 3", "group 0, left pending", "not measured", "possible", "–"]);
  assert.deepEqual(dataOf(at()).cycles, { issued: 10, wait_low: 20, wait_median: 30, wait_high: 40, overwritten: 50, done: 60 });
  assert.equal(dataOf(at({ stores: 1 })).cycles, null);
});

test("lanes", () => {
  const [thread, all, rounds] = lanesOf(at());
  assert.deepEqual(thread.marks.map(({ from, to }) => [from, to]), [[0, 10], [10, 30], [50, 60]]);
  assert.deepEqual([all.marks[0].from, all.marks[0].to, rounds.marks[1].from], [30, 50, 30]);
  assert.equal(thread.marks[1].say, "The wait_group 1 was done after 30 cycles (median of 5 rounds).");
  assert.deepEqual(lanesOf(at({ stores: 1 })), []);
});
