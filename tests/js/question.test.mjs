// question.js: what counts as right, as wrong, and as no answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../tmalab/figures/static/question.js";

const SPEC = { answer: 1024, hint: "Eight lines.", why: "8 x 128." };

test("the right number is right however it is written", () => {
  for (const text of ["1024", " 1024 ", "1,024", "1 024", "1_024", "+1024"]) {
    assert.deepEqual(judge(SPEC, text), { right: true, words: "✓ Right. 8 x 128." }, text);
  }
});

test("another number brings the hint", () => {
  assert.deepEqual(judge(SPEC, "1000"), { right: false, words: "✗ Not 1000. Eight lines." });
  assert.equal(judge(SPEC, "-1024").right, false);
});

test("what is no number is no try", () => {
  for (const text of ["", "eight", "1024 bytes", "0x400", "10.24", "--3"]) assert.equal(judge(SPEC, text).right, null, text);
});
