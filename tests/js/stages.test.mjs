// "Loads that run ahead" without a page: stamps unpacked, loads in flight, lanes and words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ahead, lanesOf, readStages, sentence, tableOf } from "../../tmalab/figures/static/stages_words.js";

const spec = { choices: { via: ["registers", "tma"], stages: [1, 2] } };
// Two tiles: 0 100 120 150 and 10 200 230 -1, as differences in base 36.
const provenance = { line: "Recorded on a GPU", end: 240, states: [null, { cycles: "0 2s k u -3w 5a u -6f", share: 0.937 }, null, null] };
const state = { via: "registers", stages: 2 };
const found = readStages(spec, provenance, state);

test("the stamps are numbers in base 36, each the difference to the one before it", () => {
  assert.deepEqual(found.tiles, [[0, 100, 120, 150], [10, 200, 230, -1]]);
});

test("a load in flight while a tile leaves is counted by the time that both take", () => {
  // Tile 0 leaves from 100 to 150, load 1 is in flight all the while; tile 1 from 200 to 230, nothing is.
  assert.equal(ahead(found), 50 / 80);
});

test("a lane a buffer, a load and a way out a tile", () => {
  const lanes = lanesOf(found, state);
  assert.deepEqual(lanes.map(({ marks }) => marks.map(({ key, from, to }) => [key, from, to])), [
    [["load-0", 0, 100], ["out-0", 100, 150]], [["load-1", 10, 200], ["out-1", 200, 230]],
  ]);
  assert.match(lanes[1].marks[1].say, /no later tile wanted its buffer/);
});

test("the sentence and the table say so, or that nothing was measured", () => {
  assert.match(sentence(found, state), /^2 buffers, tiles leave through registers: 93\.7% .* 0\.6 loads were in flight/);
  assert.deepEqual(tableOf(found, state)[1].cells, ["1", "1", "10", "200", "230", "–"]);
  const none = readStages(spec, provenance, { via: "tma", stages: 1 });
  assert.match(sentence(none, { via: "tma", stages: 1 }), /^1 buffer, tiles leave by TMA store: not measured\.$/);
  assert.deepEqual(lanesOf(none, { via: "tma", stages: 1 }), []);
});
