// "The ladder" without a page: bars, words, stamps unpacked into lanes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, dataOf, facts, lanesOf, readLadder, sentence, tableOf } from "../../tmalab/figures/static/ladder_words.js";

const rung = { idea: "loads", tile: [128, 128, 64], stages: 1, threads: 256, shared_bytes: 33792, step_cycles: 512, carries: false, bought: "It loads." };
const spec = {
  peak_tflops: 1000, labels: ["8 x 8 x 8", "9 x 9 x 9"], roofs: { "low/8": 900, "high/8": 950, "high/9": 800 },
  choices: { size: ["8", "9"], rung: ["low", "high"], part: ["first steps", "middle", "way out"], view: ["hardware", "model", "difference"] },
  rungs: [{ ...rung, name: "low", number: 1 }, { ...rung, name: "high", number: 2, idea: "stages", stages: 4 }],
};
// Steps 7 and 8 of the consumer: waits -20 to 100, 500 to 510; its tile's way out 900 to 1000.
const part = { begin: 5000, turns: false, end: 1000, roles: [null, { first: 7, cycles: "-k 3c b4 a" }, null], outs: [[0, 900, 1000]] };
const one = { ours: [500, 490, 505], cublas: [800, 790, 810], ratio: 0.625, counters: ["61.0%", "80.1%", "1.0 M", "–"], registers: 168, cycles_per_ns: 1.5, waits: [null, 0.25, null], way_out: 0.05, whole: true, parts: [null, part, null], line: 0 };
const provenance = { lines: ["Recorded on a GPU"], states: { "low/8": { ...one, ours: [250, 240, 255], ratio: 0.3125 }, "high/8": one } };
const read = (state) => readLadder(spec, provenance, { size: "8", rung: "high", part: "middle", view: "hardware", ...state });

test("a bar says the rate, the roof, or what lies between", () => {
  assert.equal(bar(read(), "high"), "500.0 · 0.625 of cuBLAS · 50.0% of the peak");
  assert.equal(bar(read({ view: "model" }), "high"), "950.0 · 95.0% of the peak");
  assert.equal(bar(read({ view: "difference" }), "high"), "450.0 under its roof of 950.0");
  assert.equal(bar(read({ size: "9" }), "high"), "not recorded");
});

test("the sentence says the gain on the rung below, and what was waited", () => {
  assert.equal(sentence(read()), "Stages: 500.0 TFLOP/s, 0.625 of cuBLAS in the same run, 2.00 times the rung below. It loads. Block 0 waited for a full stage for 25.0% of its first tile; the way out took 5.0%.");
  assert.doesNotMatch(sentence(read({ rung: "low" })), /rung below/);
  assert.match(sentence(read({ size: "9" })), /not measured at this size/);
  assert.match(sentence(read({ view: "model" })), /Model, not measured\.$/);
});

test("a lane waits, multiplies and ends with the way out; what began before the stretch begins with it", () => {
  const [lane, ...others] = lanesOf(read());
  assert.deepEqual(others, []);
  assert.equal(lane.name, "whole block");
  assert.deepEqual(lane.marks.map(({ from, to, kind }) => [from, to, kind]), [
    [0, 100, "bubble"], [100, 500, "outline"], [500, 510, "bubble"], [510, 900, "outline"], [900, 1000, "solid"],
  ]);
  assert.match(lane.marks[0].say, /^Step 7: waits until stage 3 is full, from -20 to 100 cycles, 120 long\.$/);
  assert.deepEqual(lanesOf(read({ view: "model" })), []);
  assert.deepEqual(lanesOf(read({ part: "way out" })), []);
});

test("only rungs that have a case at this size are shown", () => {
  assert.deepEqual(tableOf(read()).map(({ key, cells }) => [key, cells[1]]), [[0, "250.0"], [1, "500.0"]]);
  assert.deepEqual(tableOf(read({ size: "9" })).map(({ cells }) => cells[0]), ["high"]);
  assert.deepEqual(dataOf(read({ size: "9" })).rungs[0].tflops, null);
  assert.match(facts(read()), /4 stages, 256 threads.*168 registers; stamped at 1\.500 GHz\. ncu: tensor pipe 61\.0%/);
});
