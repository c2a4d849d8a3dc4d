// "A pipeline" without a page: moments unpacked, bubbles, lanes, Little's law, and the words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bandsOf, heading, isHidden, lanesOf, law, partsOf, pointOf, readPipeline, sentence, sweepOf, tableOf, tenths, verdict } from "../../tmalab/figures/static/pipeline_words.js";

// As write_numbers of cost_tables.py.
const pack = (numbers) => numbers.map((one, i) => (one - (numbers[i - 1] ?? 0)).toString(36)).join(" ");
// Three tiles: empty_seen, issued, full, wait_begin, full_seen, read_end, empty. A wait that need not wait costs 100.
const RUN = [[10, 410, 810], [50, 450, 850], [250, 650, 1050], [0, 360, 760], [260, 660, 860], [320, 720, 920], [360, 760, 960]].map(pack);
const cell = (tile, bubble, runs = [RUN, RUN]) => ({ tile: [tile, tile - 4, tile + 6], plain: tile - 10, told: 400, parts: [[400, bubble, 60], [400, 200, 60]], runs });
const spec = {
  place: "hbm", noise: 20, tiles: 64, moments: ["empty_seen", "issued", "full", "wait_begin", "full_seen", "read_end", "empty"],
  choices: { tile: [4096, 8192], compute: [0, 64], stages: [1, 2] },
};
const sweep = { line: 0, cycles_per_ns: 2, pass: [100, 100], ends: [900, 900], work: [60, 340], law: [[800, 250, 4], [1080, 530, 3]], cells: [cell(410, 180), cell(700, 180), cell(404, 8), null] };
const provenance = { lines: ["Recorded on a GPU"], gpu: "GPU", sweeps: [sweep, null] };
const at = (state) => readPipeline(spec, provenance, { tile: 4096, compute: 0, stages: 1, view: "hardware", ...state });
const marksOf = (found, name) => lanesOf(found).find((lane) => lane.name === name).marks;

test("a bubble is what a wait took beyond its cost, and noise is none", () => {
  assert.deepEqual(at({}).run.bubble, [160, 200, 0]);
  assert.equal(at({}).run.full[2], 1050);
});

test("the consumers' lane has no gap, the start is no bubble, and what leaves the window is cut off", () => {
  assert.deepEqual(marksOf(at({}), "consumers").map(({ key, from, to, kind }) => [key, from, to, kind]), [
    ["start", 100, 260, "hatch"], ["work-0", 260, 320, "solid"], ["rest-1", 320, 460, "soft"], ["bubble-1", 460, 660, "bubble"],
    ["work-1", 660, 720, "solid"], ["rest-2", 720, 860, "soft"], ["work-2", 860, 900, "solid"],
  ]);
  assert.equal(marksOf(at({}), "consumers")[3].text, "100 ns");
  assert.deepEqual(bandsOf(at({})), [[460, 660]]);
  assert.deepEqual(bandsOf(at({ view: "difference" })), []);
});

test("one stage's barriers: phases without a gap, their parity in turn", () => {
  const marks = marksOf(at({}), "stage 0"), full = marks.filter(({ row }) => row === 0);
  assert.deepEqual(full.map(({ from, to, text }) => [from, to, text]), [[0, 250, "0"], [250, 650, "1"], [650, 900, "0"]]);
  assert.match(marks.find(({ key }) => key === "empty-1").say, /^empty\[0\], phase 1, parity 1, 180 to 380 ns\. It ends as the consumers have read tile 1/);
});

test("with two stages tile 1 lies in stage 1, and only tile 2 waits for a stage to be given back", () => {
  const found = at({ stages: 2 });
  assert.deepEqual(lanesOf(found).map(({ name, rows }) => [name, rows]), [["producer", 1], ["TMA", 2], ["stage 0", 2], ["stage 1", 2], ["consumers", 1]]);
  assert.deepEqual(marksOf(found, "TMA").map(({ row }) => row), [0, 1, 0]);
  assert.deepEqual(marksOf(found, "producer").filter(({ kind }) => kind === "hatch").map(({ key }) => key), ["ring-2"]);
});

test("the words: a bubble, none, no room, not measured, and the difference", () => {
  assert.equal(heading(at({})), "90 ns");
  assert.equal(verdict(at({})), "bubble a tile: the consumers stand still for 45% of every 200 ns");
  assert.equal(isHidden(at({ stages: 2 })), true);
  assert.equal(verdict(at({ stages: 2 })), "bubble a tile: 2 stages hide the latency, and a tile is done every 200 ns");
  assert.equal(law(at({})), "Little's law: a stage's round trip of 400 ns over the slowest step's 125 ns is 3.2, so 4 stages hide the mean latency.");
  assert.match(law(readPipeline(spec, { ...provenance, sweeps: [{ ...sweep, law: [[200, 250, 1]] }] }, { tile: 4096, compute: 0, stages: 1, view: "hardware" })), /so 1 stage hides the mean latency\. What is left are loads that took longer than most\.$/);
  assert.equal(heading(at({ stages: 2, compute: 64 })), "no room");
  assert.equal(sentence(at({ stages: 2, compute: 64 })), "2 stages of 4 KiB are 8 KiB, and an SM's block has 227.");
  assert.match(verdict(at({ tile: 8192 })), /^Not measured/);
  assert.deepEqual(lanesOf(at({ tile: 8192 })), []);
  assert.equal(heading(at({ view: "difference" })), "+2.5%");
  assert.match(sentence(at({})), /205 ns a tile over 64 tiles; the model says 200 \(\+2\.5%\)\. Without the stamps it took 200 ns\.$/);
  assert.equal(tenths(-0.04), 0);
});

test("the parts fill one stage's time, and a point of the sweep says which depth it is", () => {
  assert.deepEqual(partsOf(at({ stages: 2 })).map(({ kind, share }) => [kind, share]), [["work", 0.15], ["rest", 0.83], ["bubble", 0.02]]);
  assert.deepEqual([pointOf(at({}), 2, 0).value, pointOf(at({}), 2, 0).bubbles, pointOf(at({}), 2, 1)], [202, false, null]);
  assert.match(pointOf(at({}), 1, 1).say, /^1 stage, computed on for 140 ns: 350 ns a tile \(348 to 353\); the model says 200 \(\+75\.0%\)/);
  assert.equal(at({}).border(1), Infinity);
  assert.equal(at({}).border(3), 550 / 2 / 2);
});

test("the table has a row a tile, in ns", () => {
  const { head, rows } = tableOf(at({}));
  assert.equal(head.length, rows[0].cells.length);
  assert.deepEqual(rows[1].cells, ["1", "0", "205", "225", "325", "180", "330", "360", "380", "100"]);
});

test("the sweep as a table: compute time by compute time, what has no room left out", () => {
  const { caption, head, rows } = sweepOf(at({}));
  assert.equal(caption, "Time a tile, by depth");
  assert.deepEqual(rows.map(({ cells }) => cells), [
    ["0", "1", "205", "203 to 208", "200", "+2.5%", "90", "100", "4"],
    ["0", "2", "202", "200 to 205", "200", "+1.0%", "4", "100", "4"],
    ["140", "1", "350", "348 to 353", "200", "+75.0%", "90", "100", "3"],
  ]);
  assert.equal(head.length, 9);
  assert.deepEqual(sweepOf(at({ tile: 8192 })).rows, []);
});
