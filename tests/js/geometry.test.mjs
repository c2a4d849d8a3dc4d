// geometry.js: hit-testing, walking, packing and addresses, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANGED, UNTOUCHED, readAddress, stateIndex, tracks, unpack, walk, writeAddress } from "../../tmalab/figures/static/geometry.js";

test("a packed table begins where its first touched chunk stands", () => {
  assert.deepEqual(unpack("1:01ff..!!", 6), [UNTOUCHED, 1, 255, UNTOUCHED, CHANGED, UNTOUCHED]);
  assert.deepEqual(unpack("0:", 2), [UNTOUCHED, UNTOUCHED]);
});

test("states are counted with the last choice fastest", () => {
  const choices = [["a", ["x", "y"]], ["b", [0, 3, 8]]];
  const all = ["x", "y"].flatMap((a) => [0, 3, 8].map((b) => stateIndex(choices, { a, b })));
  assert.deepEqual(all, [0, 1, 2, 3, 4, 5]);
});

test("arrow keys walk every cell of the area and never leave it", () => {
  const area = { row: 3, col: 1, rows: 8, cols: 8 }, cols = 16;
  const inside = (at) => Math.floor(at / cols) >= 3 && Math.floor(at / cols) < 11 && at % cols >= 1 && at % cols < 9;
  for (let row = 3; row < 11; row++) {
    for (let col = 1; col < 9; col++) {
      for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]) {
        assert.ok(inside(walk(key, row * cols + col, cols, area)), `${key} from ${row}, ${col}`);
      }
    }
  }
  assert.equal(walk("ArrowRight", 3 * cols + 1, cols, area), 3 * cols + 2);
  assert.equal(walk("ArrowDown", 3 * cols + 1, cols, area), 4 * cols + 1);
  assert.equal(walk("ArrowLeft", 3 * cols + 1, cols, area), 3 * cols + 1);
  assert.equal(walk("ArrowUp", 3 * cols + 1, cols, area), 3 * cols + 1);
  assert.equal(walk("Home", 5 * cols + 6, cols, area), 5 * cols + 1);
  assert.equal(walk("End", 5 * cols + 6, cols, area), 5 * cols + 8);
});

test("other keys are left to the page", () => {
  for (const key of ["Tab", "Enter", "d", "PageDown", "Escape"]) assert.equal(walk(key, 0, 4, { row: 0, col: 0, rows: 4, cols: 4 }), null);
});

test("the tracks of a tensor give the box its own size wherever it stands", () => {
  const wide = (n) => `repeat(${n}, minmax(0, var(--in)))`, narrow = (n) => `repeat(${n}, minmax(0, var(--out)))`;
  assert.equal(tracks(0, 8, 16), `${wide(8)} ${narrow(8)}`);
  assert.equal(tracks(1, 8, 16), `${narrow(1)} ${wide(8)} ${narrow(7)}`);
  assert.equal(tracks(8, 8, 16), `${narrow(8)} ${wide(8)}`);
  assert.equal(tracks(0, 16, 16), wide(16));
});

const CHOICES = { swizzle: ["none", "64B"], base: [0, 128], cell: [[0, 0], [3, 5]] };
const FIRST = { swizzle: "none", base: 0, cell: [0, 0] };

test("an address says only what differs from the first state, and reads back", () => {
  assert.equal(writeAddress("", "tile", FIRST, FIRST), "#");
  const state = { swizzle: "64B", base: 128, cell: [3, 5] };
  const hash = writeAddress("", "tile", state, FIRST);
  assert.equal(hash, "#tile=swizzle:64B,base:128,cell:3.5");
  assert.deepEqual(readAddress(hash, "tile", CHOICES), state);
});

test("figures on one page keep out of each other's address", () => {
  const one = writeAddress("#tile=base:128", "tile-2", { ...FIRST, swizzle: "64B" }, FIRST);
  assert.equal(one, "#tile=base:128&tile-2=swizzle:64B");
  assert.deepEqual(readAddress(one, "tile", CHOICES), { base: 128 });
  assert.deepEqual(readAddress(one, "tile-2", CHOICES), { swizzle: "64B" });
  assert.equal(writeAddress(one, "tile", FIRST, FIRST), "#tile-2=swizzle:64B");
});

test("an ordinary anchor says nothing, and what is not a state is passed over", () => {
  assert.equal(readAddress("#the-atom", "tile", CHOICES), null);
  assert.equal(readAddress("", "tile", CHOICES), null);
  assert.deepEqual(readAddress("#tile=", "tile", CHOICES), {});
  for (const bad of ["swizzle:96B", "base:1", "base", "cell:3,5", "__proto__:x", "constructor:y", "toString:z", ":::"]) {
    assert.deepEqual(readAddress(`#tile=${bad},base:128`, "tile", CHOICES), { base: 128 }, bad);
  }
});

test("what a reader typed keeps its signs in an address", () => {
  const choices = { edit: (text) => text, base: [0, 128] };
  for (const edit of ["lane % 8, lane / 8", "(lane*128)^((lane&7)<<4)", "a:b=c#d", "50%", "é 🐈", ""]) {
    const hash = writeAddress("", "cost", { edit, base: 128 }, { edit: "lane", base: 0 });
    assert.match(hash, /^#cost=edit:[\w.;*()+~%-]*,base:128$/);
    assert.deepEqual(readAddress(hash, "cost", choices), { edit, base: 128 });
  }
  assert.deepEqual(readAddress("#cost=edit:50%", "cost", choices), { edit: "50%" });
});
