// wgmma_words.js on a tile that its descriptor reads right, one that is read row for row wrong, and one chunk changed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { byteOf, count, dataOf, keyOf, lookUp, note, say, sayAbout, sayPlace, sayProduct, short, tableOf, unpackPairs } from "../../tmalab/figures/static/wgmma_words.js";

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const pack = (chunks) => chunks.map((one) => (one < 0 ? "--" : DIGITS[Math.floor(one / 36)] + DIGITS[one % 36])).join("");
const EVERY = [...Array(512).keys()], SWAPPED = EVERY.map((chunk) => chunk ^ 1);
const one = (model, hardware, right, product) => ({ model: pack(model), hardware, right: { model: right, hardware: right }, product: { model: product, hardware: product } });
const SPEC = {
  choices: { tile: ["x", "y"], descriptor: ["x", "y"], rows: [0, 8], view: ["hardware", "model", "difference"] },
  tiles: [{ model: pack(EVERY), hardware: "=", about: "The tile x.", line: 0 }, { model: pack(SWAPPED), hardware: null, about: "The tile y.", line: -1 }],
  descriptors: [{ about: "As x.", fields: [] }, { about: "As y.", fields: [] }],
  states: [
    one(EVERY, "=", 4096, [0, 0]), one(SWAPPED, pack(SWAPPED.with(9, -1).with(10, 10)), 8, [512, 37.9]),
    one(SWAPPED, null, 0, [512, 3]), one(EVERY, null, 4096, [0, 0]),
  ],
};
const at = (tile, descriptor, view = "hardware") => lookUp(SPEC, { tile, descriptor, rows: 0, view });

test("numbers are packed two digits each", () => {
  assert.deepEqual(unpackPairs("000z--e7"), [0, 35, -1, 511]);
  assert.equal(short(25), "3, 8–15");
});

test("what was asked for and what was read is said by rows and columns", () => {
  assert.equal(say(at("x", "x"), "hardware", 25), "Row 3, columns 8–15: read from shared byte 400, where it stands. Measured: so it is.");
  assert.equal(say(at("x", "y"), "model", 25), "Asked for row 3, columns 8–15, which stands at shared byte 400, wgmma read shared byte 384: row 3, columns 0–7.");
  assert.equal(say(at("y", "x"), "hardware", 25), "Asked for row 3, columns 8–15, which stands at shared byte 384, wgmma read shared byte 400: row 3, columns 0–7. Model, not measured.");
  assert.equal(say(at("x", "y"), "hardware", 9), "Asked for row 1, columns 8–15, which stands at shared byte 144, wgmma read no chunk of the tile. Measured, where the model says row 1, columns 0–7.");
  assert.equal(sayPlace(at("x", "x"), 25), "Shared byte 400 holds row 3, columns 8–15; it was not read.");
});

test("results are counted", () => {
  assert.equal(sayAbout(at("x", "x")), "The tile x. As x. Every element is the one that was asked for.");
  assert.equal(sayAbout(at("x", "y")), "The tile x. As y. 4088 of 4096 elements are not the ones that were asked for.");
  assert.equal(sayProduct(at("x", "y")), "512 of 512 wrong, by up to 37.9");
  assert.equal(sayProduct(at("x", "x")), "0 of 512 wrong");
  assert.equal(count(at("x", "y")), "2 of 512 chunks differ");
  assert.equal(note(at("x", "y"), "hardware", "H200"), "2 of 512 chunks differ");
  assert.equal(note(at("x", "x"), "hardware", "H200"), "as the H200 read it");
  assert.equal(note(at("y", "x"), "difference", "H200"), "model, not measured");
  assert.equal(count({ ...at("x", "x"), moved: 3 }), "0 of 512 chunks differ, and 3 of shared memory");
});

test("table and data tell the same", () => {
  const found = at("x", "y"), rows = tableOf(found, 0);
  assert.equal(rows.length, 64);
  assert.deepEqual(rows[9], { key: 9, cells: ["1, 8–15", "144", "no chunk", "1, 0–7", "wrong", "differs"] });
  assert.deepEqual(rows[10].cells, ["1, 16–23", "160", "1, 16–23", "1, 24–31", "right", "differs"]);
  assert.equal(tableOf(found, 8)[0].key, 64);
  assert.deepEqual(dataOf(found)[9], { asked: [1, 8], shared_byte: 144, model: [1, 0], hardware: null, right: false });
  assert.equal(dataOf(at("y", "x"))[0].hardware, "not measured");
  assert.equal(byteOf(found, -1), null);
});

test("the key speaks of what the view draws", () => {
  assert.deepEqual(keyOf("hardware").swatches.map(([kind]) => kind), ["same", "other"]);
  assert.deepEqual(keyOf("model"), keyOf("hardware"));
  assert.deepEqual(keyOf("difference").swatches, [["equal", "as the model says"], ["unequal", "not"]]);
  assert.match(keyOf("difference").cell, /after ≠ what the model says\.$/);
});
