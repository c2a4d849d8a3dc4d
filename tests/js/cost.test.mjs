// cost_words.js on tables of one tile and two accesses: what is looked up, what is drawn, and the words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { banksOf, lanesAt, linesOf, lookUp, numberError, pointAt, readNumbers, sentence, tableOf, walkWords, waveOf } from "../../tmalab/figures/static/cost_words.js";

const ALL = "0123456789abcdefghijklmnopqrstuv";
const FREE = { swizzle: null, padding_bytes: null, words: "Free as it is." };
const SPEC = {
  choices: { swizzle: ["none", "128B"] }, paddings: [0, 4], element_bytes: { float16: 2, float32: 4 }, matrix: ["ldmatrix"],
  expressions: { column: "lane % rows, 0" }, reads: ["column.4", "ldmatrix.16", "column.8"],
  costs: { "32.128.none.0": [0, 1, 1], "32.128.128B.0": [2, 1, 1], "32.128.none.4": [3, -1, -1] },
  patterns: [["0 3k*31", 0, 32, 1, 32], ["0 g*31", 1, 1, 4, 4], ["0 40 3k", 2, 2, 1, 2], ["0 3o*31", 3, 1, 1, 1]],
  waves: [ALL, "00000000111111112222222233333333", "001.............................", "0".repeat(32)], refused: ["it would fault"],
  advice: { "32.128": [0, 1, 1] }, free: FREE,
  remedies: [{ swizzle: "none", padding_bytes: 4, least_padding: 4, words: "Pad." }, { ...FREE, least_padding: null }],
  notes: { "32.128.none.0": 0, "32.128.128B.0": 0, "32.128.none.4": 1 }, noted: [[], ["The engine writes no padding."]],
};
const MEASURED = [[32.01, 0.02, 32], null, [2, 0, 2], [1, 0, 1]];
const FIRST = { dtype: "float32", rows: 32, row_bytes: 128, swizzle: "none", padding: 0, base: 0, access: "column", width: "element", edit: "", wave: 0, lane: 0 };
const at = (more = {}, answers = new Map()) => lookUp(SPEC, MEASURED, { ...FIRST, ...more }, answers);

test("numbers are read as Python wrote them", () => {
  assert.deepEqual(readNumbers("0 3o*2 -5d"), [0, 132, 264, 71]);
});

test("a recorded state is whole: addresses, places, wavefronts, price, alternatives", () => {
  const found = at();
  assert.equal(found.measured, true);
  assert.deepEqual(found.told.addresses.slice(0, 3), [0, 128, 256]);
  assert.deepEqual(found.told.places[31], [31, 0]);
  assert.deepEqual([found.waves, found.told.degree, found.told.min_count], [32, 32, 1]);
  assert.deepEqual(found.told.measured, { cycles: 32.01, spread: 0.02, count: 32 });
  assert.deepEqual(found.told.alternatives.map(({ swizzle, padding_bytes: padding, count, engine_writes: engine }) => [swizzle, padding, count, engine]),
    [["none", 0, 32, true], ["128B", 0, 2, true], ["none", 4, 1, false]]);
  assert.equal(found.told.advice.words, "Pad.");
});

test("what is free is told so, whatever would be advised otherwise", () => {
  const found = at({ padding: 4 });
  assert.deepEqual([found.told.advice, found.told.notes], [FREE, ["The engine writes no padding."]]);
});

test("a lane of ldmatrix moves 16 bytes, and a row that is askew faults", () => {
  const found = at({ access: "ldmatrix", dtype: "float16" });
  assert.deepEqual([found.width, found.waves, found.words[1], found.measured], [16, 4, [4, 5, 6, 7], false]);
  assert.deepEqual([at({ access: "ldmatrix", padding: 4 }).told.error, at({ access: "ldmatrix", padding: 4 }).runs], ["it would fault", false]);
});

test("what nobody recorded is asked, and told from the answer", () => {
  for (const other of [{ base: 128 }, { rows: 20 }, { access: "expression", edit: "lane" }]) assert.equal(at(other).told, null);
  const { question } = at({ access: "expression", edit: "lane * 4" });
  assert.deepEqual(JSON.parse(question).access, { access: "expression", width_bytes: 4, op: "load", expression: "lane * 4" });
  const answer = { addresses: [0, 0, 4], places: [[0, 0], [0, 0], [0, 4]], waves: [{ lanes: [0, 1, 2], words: [0, 1] }], degree: 1, count: 1, min_count: 1, alternatives: [] };
  const found = at({ access: "expression", edit: "lane * 4" }, new Map([[question, answer]]));
  assert.deepEqual([found.measured, found.runs, found.told.waves], [false, true, [[0, 1, 2]]]);
  assert.match(sentence(found, 2, "H200"), /^Lane 2 reads row 0, bytes 4–7 of the tile → shared byte 4, word 1 of bank 1\. It comes in wavefront 1 of 1\. Model, not measured\.$/);
});

test("an answer of recorded addresses, width and operation is a measurement, however it was written", () => {
  const column = Array.from({ length: 32 }, (_, lane) => 128 * lane), padded = column.map((address, lane) => address + 4 * lane);
  const typed = (addresses, more = {}) => {
    const alternatives = [padded, null, [4]].map((one) => ({ swizzle: "none", padding_bytes: 4, addresses: one }));
    const answer = { addresses, places: addresses.map(() => [0, 0]), waves: [{ lanes: [0] }], degree: 1, count: 1, min_count: 1, alternatives };
    const state = { access: "expression", edit: "128 * lane", ...more };
    return at(state, new Map([[at(state).question, answer]]));
  };
  const found = typed(column);
  assert.deepEqual([found.measured, found.told.measured], [true, { cycles: 32.01, spread: 0.02, count: 32 }]);
  assert.deepEqual(found.told.alternatives.map(({ measured }) => measured && measured.count), [1, null, null]);
  assert.match(sentence(found, 0, "H200"), /The H200 took 32\.0 cycles an access: 32 wavefronts\.$/);
  assert.equal(typed(column, { width: "8" }).told.measured, null); // recorded, but 4 bytes a lane
  assert.equal(typed([4, ...column.slice(1)]).told.measured, null);
  const named = Array.from({ length: 32 }, (_, lane) => 16 * lane);
  assert.equal(typed(named, { width: "16" }).told.measured, null); // recorded, but by ldmatrix
});

test("the model's view says nothing of the hardware", () => {
  assert.match(sentence(at({ view: "model" }), 5, "H200"), /wavefront 6 of 32\.$/);
  assert.match(sentence(at({ view: "model", access: "ldmatrix" }), 5, "H200"), /wavefront 1 of 4\.$/);
});

test("a number that is none is told so", () => {
  assert.equal(numberError("rows", 1, "-3"), "rows must be a whole number from 1 to 999999999: -3 is given.");
  assert.equal(numberError("padding", 0, ""), "padding must be a whole number from 0 to 999999999: no number is given.");
});

test("a lane that takes no part reads nothing", () => {
  const found = at({ swizzle: "128B" });
  assert.deepEqual([found.waves, waveOf(found, 2), found.told.addresses.length], [2, 2, 3]);
});

test("lines and banks follow the words, wavefront by wavefront", () => {
  const found = at({ wave: 3 });
  assert.equal(linesOf(found).length, 32);
  assert.deepEqual(linesOf(found)[5].lanes[0], [5]);
  assert.deepEqual(linesOf(found)[5].lanes[1], []);
  assert.deepEqual([linesOf(found)[5].address, linesOf(found)[5].first], [640, 160]);
  assert.deepEqual(banksOf(found)[0], { all: 32, until: 3, now: 1 });
  assert.deepEqual(banksOf(found)[1], { all: 0, until: 0, now: 0 });
  assert.deepEqual(lanesAt(found), [2]);
  assert.equal(lanesAt(at()).length, 32);
  assert.equal(at({ wave: 99 }).wave, 32);
});

test("the sentence and the table", () => {
  assert.equal(sentence(at(), 5, "H200"),
    "Lane 5 reads row 5, bytes 0–3 of the tile → shared byte 640, word 160 of bank 0. It comes in wavefront 6 of 32. The H200 took 32.0 cycles an access: 32 wavefronts.");
  assert.match(sentence(at({ access: "ldmatrix" }), 9, "H200"), /^Lane 9 names row 1 of matrix 1: row 1, bytes 16–31/);
  assert.deepEqual(tableOf(at())[31], ["31", "31", "0–3", "3968", "992", "0", "32"]);
  assert.deepEqual(tableOf(at({ padding: 4, access: "ldmatrix" })), []);
  assert.equal(sentence(at({ base: 4 }), 0, "H200"), "Nobody has computed this state yet.");
});

test("a caret stands under its column, in a long expression too", () => {
  assert.equal(pointAt("lane * lan", 8), "lane * lan\n       ^");
  const [text, caret] = pointAt(`${"lane + ".repeat(20)}lan`, 141).split("\n");
  assert.equal(text.slice(caret.length - 1), "lan");
  assert.ok(text.length <= 40);
  assert.equal(pointAt("4 *", 4), "4 *\n   ^");
});

test("keys go from one word that is read to the next", () => {
  const line = (...banks) => ({ lanes: Array.from({ length: 32 }, (_, bank) => (banks.includes(bank) ? [bank] : [])) });
  const lines = [line(0, 4, 5), line(7), line(3, 8)];
  const from = (row, bank) => (key) => walkWords(lines, 32 * row + bank, key);
  assert.deepEqual(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End"].map(from(0, 4)), [5, 0, 4, 32 + 7, 0, 5]);
  assert.deepEqual(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"].map(from(1, 7)), [39, 39, 5, 64 + 8]);
  assert.deepEqual(["ArrowDown", "Enter", "a"].map(from(2, 3)), [67, null, null]);
});
