// landing_words.js on a tile of four pieces: times unpacked, shades and frames, places, sentences, what is not recorded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { landed, place, readLanding, recorded, sentence, tableOf, unpackTimes } from "../../tmalab/figures/static/landing_words.js";

const TILE = { name: "t", pieces: 4, cols: 2, piece_bytes: 128, row_bytes: 64, bytes: 512 };
// run 100 100 200 400, gaps 20 each, median 150 each, low 100, high 120 140 160 180; base 36, differences
const ONE = {
  times: ["2s 0 2s 5k", "k 0*3", "46 0*3", "2s 0*3", "3c k*3"], bins: [[100, 100, 4], [100, 100, 1], [0, 50, 2]], resolution: 20, cycles_per_ns: 2,
  runs: 100, line: 0,
};
const SPEC = { tiles: [TILE], frames: 12, choices: { tile: ["t"], warmth: ["warm", "cold-data", "cold"], shown: ["one run", "median", "spread"] } };
const PROVENANCE = { lines: ["Recorded"], states: [ONE, null, null] };
const at = (state) => readLanding(SPEC, PROVENANCE, { tile: "t", warmth: "warm", shown: "one run", frame: 12, piece: 0, ...state });

test("times are unpacked as Python packed them", () => {
  assert.deepEqual(unpackTimes("2s 0 2s 5k"), [100, 100, 200, 400]);
  assert.deepEqual(unpackTimes("3c k*3"), [120, 140, 160, 180]);
});

test("the later, the darker; with one bin, all are of the lightest", () => {
  assert.deepEqual(at({}).shades, [0, 0, 2, 7]);
  assert.deepEqual(at({ shown: "median" }).shades, [0, 0, 0, 0]);
  assert.deepEqual(at({ shown: "spread" }).values, [20, 40, 60, 80]);
  assert.deepEqual(at({}).key.at(-1), [7, "400 to 499"]);
});

test("a frame shows what has landed by its time", () => {
  assert.deepEqual(at({ frame: 0 }).shades, [null, null, null, null]);
  assert.deepEqual(at({ frame: 6 }).shades, [0, 0, 2, null]);
  assert.equal(landed(at({ frame: 6 })), "3 of 4 landed by 250 cycles (125 ns)");
  assert.equal(landed(at({ frame: 0 })), "0 of 4 landed by 99 cycles (50 ns)");
});

test("a piece is told by its bytes and by the rows of the box", () => {
  assert.deepEqual(place(TILE, 1), ["128 to 255", "2 to 3"]);
  assert.deepEqual(place({ piece_bytes: 32, row_bytes: 128 }, 5), ["160 to 191", "1"]);
  assert.equal(sentence(at({}), 3), "Piece 3, bytes 384 to 511 of the tile (rows 6 to 7 of the box): seen changed 400 cycles (200 ns) after the load was "
    + "issued, in the run drawn; the look at 380 had still found the old word. Median of 100 runs: 150; four in five between 100 and 180.");
});

test("what is not recorded has no number, and is no choice", () => {
  const found = at({ warmth: "cold", piece: 9 });
  assert.equal(found.one, null);
  assert.equal(found.piece, 3);
  assert.match(found.source, /^Not measured/);
  assert.equal(landed(found), "");
  assert.equal(sentence(found, 3), "Piece 3, bytes 384 to 511 of the tile (rows 6 to 7 of the box): not measured.");
  assert.deepEqual(tableOf(found)[0].cells.slice(3), ["–", "–", "–", "–"]);
  assert.deepEqual(recorded(SPEC, PROVENANCE, "t"), ["warm"]);
});
