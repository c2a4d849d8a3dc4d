// parity_words.js on two tiles: what a cell shows, when it differs, and each sentence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hardware, labelOf, note, predicted, readParity, ruleSays, sentence, shown, tableOf, used } from "../../tmalab/figures/static/parity_words.js";

const RIGHT = { given: [0, 1], outlooks: [[[0, 1, 0], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]]], outcomes: [["completes"], ["completes"], ["completes"]] };
const INVERTED = { given: [1, 2], outlooks: [[[1, 0, 1], [1, 1, 0]], [[0, 0, 1], [0, 0, 1]], [[1, 0, 1], [1, 0, 1]]], outcomes: [["race", "hang"], ["hang"], ["race"]] };
const SPEC = {
  tiles: 2, rows: [...Array(6).keys()].map((row) => ["asked", row]).concat([["waits", 0], ["words", 0], ["waits", 1], ["waits", 2], ["words", 2]]),
  paces: ["in flight", "landed", "pipeline"], choices: { rule: ["right", "inverted"] }, model: [RIGHT, INVERTED],
  asked: [[0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1]],
};
const SEEN = { runs: 4, line: 0, asked: [[0, 4], [4, 0], [0, 4], [4, 1], [4, 0], [0, 4]], waits: [[4, 90], [3, 95]], words: [[4, 0, 0, 0], [3, 0, 1, 0]] };
const NEVER = { ...SEEN, asked: null, waits: [[0, 60000], [0, 60000]] };
const PROVENANCE = { lines: ["Here.", "There."], states: [[SEEN, { ...SEEN, line: 1 }, null], [SEEN, NEVER, { ...SEEN, words: [[0, 3, 1, 0], [0, 0, 4, 0]] }]] };
const at = (rule, view = "hardware", tile = 0, row = 0) => readParity(SPEC, PROVENANCE, { rule, view, tile, row });

test("a cell shows how many runs answered, returned or read", () => {
  const found = at("inverted");
  assert.deepEqual(hardware(found, 0, 1), ["yes", "", "yes"]);
  assert.deepEqual(hardware(found, 3, 1), ["1", "of 4", "mixed"]);
  assert.deepEqual(hardware(found, 6, 0), ["90", "cycles", "returned"]);
  assert.deepEqual(hardware(found, 6, 1), ["95", "3 of 4", "returned"]);
  assert.deepEqual(hardware(found, 8, 0), ["never", "", "never"]);
  assert.deepEqual(hardware(found, 7, 1), ["own", "3 of 4", "half"]);
  assert.deepEqual(hardware(found, 10, 0), ["stale", "3 of 4", "stale"]);
  assert.equal(hardware(at("right"), 9, 0), null);
});

test("the model's cells, and the view that shows them", () => {
  const found = at("inverted", "model");
  assert.deepEqual(shown(found, 6, 0), ["early", "or never", "early"]);
  assert.deepEqual(shown(found, 6, 1), ["early", "or in time", "early"]);
  assert.deepEqual(shown(found, 8, 0), ["never", "", "never"]);
  assert.deepEqual(predicted(found, 7, 0), ["any", "", "any"]);
  assert.deepEqual(predicted(at("right"), 7, 0), ["own", "", "own"]);
  assert.deepEqual(shown(at("right"), 9, 0), ["in time", "", "in-time"]); // not measured: the model's
});

test("what cannot be differs", () => {
  assert.deepEqual(at("right").unequal, [[3, 1], [6, 1], [7, 1], [8, 1]]);
  assert.deepEqual(at("inverted").unequal, [[3, 1], [6, 1]]);
  assert.equal(note(at("right")), "4 of 22 cells differ from the model");
  assert.equal(note(at("right", "model")), "as the model predicts it");
});

test("the parity that the wait is given, whatever its upper bits", () => {
  const found = at("inverted");
  assert.deepEqual([used(found, 0, 0), used(found, 1, 0), used(found, 2, 1), used(found, 6, 1)], [false, true, true, false]);
});

test("sentences", () => {
  const says = (rule, view, tile, row) => sentence(at(rule, view, tile, row));
  assert.equal(says("right", "hardware", 1, 3), "Tile 1, while its load is in flight: test_wait with parity 1 answered yes in 1 of 4 runs, no in 3. The last complete phase is 0, of parity 0. The model says no.");
  assert.equal(says("right", "model", 0, 1), "Tile 0, before it is armed: test_wait with parity 1 answers yes. No phase is complete yet, which counts as parity 1.");
  assert.equal(says("inverted", "hardware", 1, 8), "Tile 1, after the load has landed: the wait is given 2; only bit 0 counts, 0, not the parity of its phase. It had not returned after 60000 cycles, in 4 of 4 runs.");
  assert.equal(says("right", "hardware", 1, 9), "Tile 1, in a pipeline: the wait is given 1, the parity of its phase. It returns when the tile has landed. Model, not measured.");
  assert.equal(says("inverted", "hardware", 0, 10), "Tile 0, in a pipeline: after its wait the consumer read older words in 3, half a tile in 1 of 4 runs.");
  assert.equal(says("inverted", "model", 0, 10), "Tile 0, in a pipeline: after its wait the consumer reads whatever lies there.");
  assert.deepEqual(ruleSays(at("right")), ["Tile i's wait is given i mod 2, the parity of its phase.", "BarrierProgram says: completes."]);
  assert.equal(ruleSays(at("inverted"))[1], "BarrierProgram says: race in flight, hang when landed, race in a pipeline.");
});

test("the table has a row a cell, and each machine its line", () => {
  const rows = tableOf(at("right"));
  assert.equal(rows.length, 22);
  assert.deepEqual(rows[7], { key: 7, cells: ["1", "1", "in flight, parity 1", "1 of 4", "no", "differs"] });
  assert.deepEqual(labelOf(10), ["pipeline", "words read"]);
  assert.equal(at("right").source, "Here.; There.");
});
