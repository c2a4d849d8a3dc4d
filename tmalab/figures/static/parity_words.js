// "Parity" in numbers and words: one state read out of its tables, as parity_state.py reads it for the still. No document
// here: node tests it.
export const RULES = {
  "right": "Tile i's wait is given i mod 2, the parity of its phase.",
  "always 0": "Every wait is given 0.",
  "always 1": "Every wait is given 1.",
  "loop index": "Tile i's wait is given i itself: 0, 1, 2, 3 …",
  "inverted": "Tile i's wait is given the other parity than its phase has.",
};
export const LABELS = [
  ["before arming", "parity 0"], ["", "parity 1"], ["in flight", "parity 0"], ["", "parity 1"], ["landed", "parity 0"],
  ["", "parity 1"], ["in flight", "the wait"], ["", "words read"], ["landed", "the wait"], ["pipeline", "the wait"],
  ["", "words read"],
];
const MOMENTS = ["before it is armed", "while its load is in flight", "after its load has landed"];
const WHEN = ["while the load is in flight", "after the load has landed", "in a pipeline"];
const PHRASES = ["in flight", "when landed", "in a pipeline"];
const WHOSE = ["own", "stale", "half", "later"];
const WORDS = { own: "its own words", stale: "older words", half: "half a tile", later: "a later tile's words" };
// By early, rightly, never: what stands in the cell, and the sentence.
const OUTLOOKS = {
  "0,1,0": [["in time", "", "in-time"], "It returns when the tile has landed."],
  "1,0,1": [["early", "or never", "early"], "It returns at once, before the tile has landed, or never."],
  "1,1,0": [["early", "or in time", "early"], "It returns at once, or when the tile has landed."],
  "0,0,1": [["never", "", "never"], "It never returns."],
};

const answer = (count, runs) => (count > 0 && count < runs ? [`${count}`, `of ${runs}`, "mixed"] : count ? ["yes", "", "yes"] : ["no", "", "no"]);
const outlookOf = (found, number, tile) => OUTLOOKS[found.model.outlooks[number][tile].join(",")];

export function readParity(spec, provenance, state) {
  const number = spec.choices.rule.indexOf(state.rule);
  const found = { spec, state, model: spec.model[number], seen: provenance.states[number] };
  const lines = new Set(found.seen.filter(Boolean).map((one) => provenance.lines[one.line]));
  found.source = [...lines].join("; ") || "Model, not measured: there is no recording of this rule.";
  found.cells = spec.rows.flatMap((_, row) => Array.from({ length: spec.tiles }, (_, tile) => [row, tile]));
  found.unequal = found.cells.filter(([row, tile]) => differs(found, row, tile));
  return found;
}

export function measured(found, row) {
  const [what, number] = found.spec.rows[row];
  return found.seen[what === "asked" ? 0 : number];
}

export function hardware(found, row, tile) {
  const [what, number] = found.spec.rows[row], seen = measured(found, row);
  if (!seen) return null;
  if (what === "asked") return answer(seen.asked[number][tile], seen.runs);
  const [returned, cycles] = seen.waits[tile];
  if (what === "waits") {
    return returned ? [`${cycles}`, returned === seen.runs ? "cycles" : `${returned} of ${seen.runs}`, "returned"] : ["never", "", "never"];
  }
  if (!returned) return ["–", "", "none"];
  const counts = seen.words[tile], most = Math.max(...counts), [own, ...others] = counts;
  // It looks like what went wrong, if only in one run.
  const look = own === seen.runs ? "own" : WHOSE[1 + others.indexOf(Math.max(...others))];
  return [WHOSE[counts.indexOf(most)], most === seen.runs ? "" : `${most} of ${seen.runs}`, look];
}

export function predicted(found, row, tile) {
  const [what, number] = found.spec.rows[row];
  if (what === "asked") return answer(found.spec.asked[number][tile], 1);
  const [early, rightly] = found.model.outlooks[number][tile];
  if (what === "waits") return outlookOf(found, number, tile)[0];
  return early ? ["any", "", "any"] : rightly ? ["own", "", "own"] : ["–", "", "none"];
}

// Whether hardware and model cannot both be right.
export function differs(found, row, tile) {
  const [what, number] = found.spec.rows[row], seen = measured(found, row);
  if (!seen) return false;
  if (what === "asked") return seen.asked[number][tile] !== seen.runs * found.spec.asked[number][tile];
  const [early, rightly, never] = found.model.outlooks[number][tile], [returned] = seen.waits[tile];
  if (what === "waits") return (returned > 0 && !early && !rightly) || (returned < seen.runs && !never);
  return returned > 0 && !early && seen.words[tile][0] < seen.runs;
}

export const shown = (found, row, tile) => (found.state.view === "model" ? null : hardware(found, row, tile)) ?? predicted(found, row, tile);
export const used = (found, row, tile) => row < 6 && found.model.given[tile] % 2 === row % 2;

export function ruleSays(found) {
  const verdicts = found.model.outcomes.map(([worst]) => worst), alike = new Set(verdicts).size === 1;
  const said = alike ? verdicts[0] : verdicts.map((verdict, i) => `${verdict} ${PHRASES[i]}`).join(", ");
  return [RULES[found.state.rule], `BarrierProgram says: ${said}.`];
}

export function note(found) {
  if (found.state.view === "model") return "as the model predicts it";
  if (!found.seen.some(Boolean)) return "model, not measured";
  const some = found.unequal.length;
  return `${some} of ${found.cells.length} cells ${some === 1 ? "differs" : "differ"} from the model`;
}

export function sentence(found, row = found.state.row, tile = found.state.tile) {
  const [what, number] = found.spec.rows[row], isModel = found.state.view === "model";
  const seen = isModel ? null : measured(found, row);
  return { asked, waits, words }[what](found, number, tile, row, seen) + (isModel || seen ? "" : " Model, not measured.");
}

function asked(found, number, tile, row, seen) {
  const phases = tile + (number >= 4 ? 1 : 0);
  const last = phases ? `The last complete phase is ${phases - 1}, of parity ${(phases - 1) % 2}` : "No phase is complete yet, which counts as parity 1";
  const said = found.spec.asked[number][tile] ? "yes" : "no";
  const head = `Tile ${tile}, ${MOMENTS[number >> 1]}: test_wait with parity ${number % 2}`;
  if (!seen) return `${head} answers ${said}. ${last}.`;
  const count = seen.asked[number][tile];
  return `${head} answered yes in ${count} of ${seen.runs} runs, no in ${seen.runs - count}. ${last}.` + (differs(found, row, tile) ? ` The model says ${said}.` : "");
}

function waits(found, number, tile, row, seen) {
  const given = found.model.given[tile], bits = given > 1 ? `; only bit 0 counts, ${given % 2}` : "";
  const mine = given % 2 === tile % 2 ? "the parity of its phase" : "not the parity of its phase";
  const head = `Tile ${tile}, ${WHEN[number]}: the wait is given ${given}${bits}, ${mine}.`, outlook = outlookOf(found, number, tile)[1];
  if (!seen) return `${head} ${outlook}`;
  const [returned, cycles] = seen.waits[tile], { runs } = seen;
  const told = returned === runs ? `It returned after ${cycles} cycles (median of ${runs} runs).`
    : !returned ? `It had not returned after ${cycles} cycles, in ${runs} of ${runs} runs.`
    : `It returned in ${returned} of ${runs} runs, after ${cycles} cycles.`;
  return `${head} ${told}` + (differs(found, row, tile) ? ` The model says: ${outlook}` : "");
}

function words(found, number, tile, row, seen) {
  const head = `Tile ${tile}, ${WHEN[number]}: after its wait the consumer`;
  const expected = { own: "its own words", any: "whatever lies there", none: "nothing" }[predicted(found, row, tile)[2]];
  if (!seen) return `${head} reads ${expected}.`;
  if (!seen.waits[tile][0]) return `${head} read nothing: the wait did not return.`;
  const counts = WHOSE.flatMap((kind, i) => (seen.words[tile][i] ? [`${WORDS[kind]} in ${seen.words[tile][i]}`] : []));
  return `${head} read ${counts.join(", ")} of ${seen.runs} runs.` + (differs(found, row, tile) ? ` The model says ${expected}.` : "");
}

export function labelOf(row) {
  let above = row;
  while (!LABELS[above][0]) above--;
  return [LABELS[above][0], LABELS[row][1]];
}

export const HEAD = ["Tile", "The wait is given", "What", "The hardware", "The model", "Equal"];
const plain = (cell) => `${cell[0]} ${cell[1]}`.trim();
export function tableOf(found) {
  return found.cells.map(([row, tile]) => {
    const seen = hardware(found, row, tile), equal = !seen ? "–" : differs(found, row, tile) ? "differs" : "equal";
    return {
      key: row * found.spec.tiles + tile,
      cells: [`${tile}`, `${found.model.given[tile]}`, labelOf(row).join(", "), seen ? plain(seen) : "not measured", plain(predicted(found, row, tile)), equal],
    };
  });
}
