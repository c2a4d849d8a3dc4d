// "What does my access cost?" without a page: one state looked up in what Python said of it (cost_tables.py,
// checker/cost.py), and the words.

export const LANES = 32;
export const BANKS = 32;
const LINE_BYTES = 128;

export const whole = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

// --- looking up -------------------------------------------------------------------------------------------------------

// Numbers as cost_tables.write_numbers wrote them: base 36, each the difference to the one before it, "*" how often.
export function readNumbers(text) {
  const numbers = [];
  for (const [step, count = 1] of text.split(" ").map((word) => word.split("*"))) {
    for (let i = 0; i < count; i++) numbers.push(parseInt(step, 36) + (numbers.at(-1) ?? 0));
  }
  return numbers;
}

export const widthOf = (spec, state) =>
  spec.matrix.includes(state.access) ? 16 : state.width === "element" ? spec.element_bytes[state.dtype] : Number(state.width);
export const expressionOf = (spec, state) => (state.access === "expression" ? state.edit : spec.expressions[state.access]);
const layoutOf = ({ rows, row_bytes: bytes, swizzle, padding }) => `${rows}.${bytes}.${swizzle}.${padding}`;

// What the tables hold of the state with other values in it: a pattern, or {error}; null where nobody put it there.
function recorded(spec, measured, state, other = {}) {
  const asked = { ...state, ...other };
  const number = asked.base === 0 ? spec.costs[layoutOf(asked)]?.[readOf(spec, asked)] : undefined;
  if (number === undefined) return null;
  if (number < 0) return { error: spec.refused[-1 - number], column: null };
  const [addresses, waves, degree, min_count, cycles] = spec.patterns[number];
  return { addresses, waves: wavesOf(spec.waves[waves]), degree, min_count, cycles, measured: measurement(measured[number]) };
}
const measurement = (seen) => seen && { cycles: seen[0], spread: seen[1], count: seen[2] };
const readOf = (spec, state) => spec.reads.indexOf(`${state.access}.${widthOf(spec, state)}`);

function fromTables(spec, measured, state) {
  const found = recorded(spec, measured, state);
  if (found === null || found.error) return found;
  const plain = readNumbers(recorded(spec, measured, state, { swizzle: "none", padding: 0 }).addresses);
  const remedy = spec.remedies[spec.advice[`${state.rows}.${state.row_bytes}`][readOf(spec, state)]];
  const padded = spec.paddings.includes(remedy.least_padding) ? [["none", remedy.least_padding]] : [];
  return {
    ...found, addresses: readNumbers(found.addresses), count: found.waves.length,
    places: plain.map((address) => [Math.floor(address / state.row_bytes), address % state.row_bytes]),
    advice: found.degree === 1 ? spec.free : remedy, notes: spec.noted[spec.notes[layoutOf(state)]],
    alternatives: [...spec.choices.swizzle.map((swizzle) => [swizzle, 0]), ...padded].map(([swizzle, padding]) => {
      const other = recorded(spec, measured, state, { swizzle, padding });
      return {
        swizzle, padding_bytes: padding, degree: other.degree ?? null, count: other.waves?.length ?? null, measured: other.measured ?? null,
        engine_writes: !padding && (swizzle === "none" || state.row_bytes <= parseInt(swizzle, 10)),
      };
    }),
  };
}
// The tables' patterns by what a warp does, however it was written: operation, bytes a lane, addresses.
const numbers = new WeakMap();
const doing = (spec, access, width, addresses) => `${spec.matrix.includes(access) ? access : "load"} ${width} ${addresses}`;
function numbersOf(spec) {
  if (!numbers.has(spec)) numbers.set(spec, new Map(Object.values(spec.costs).flatMap((row) => row.flatMap((number, i) => {
    const [access, width] = spec.reads[i].split(".");
    return number < 0 ? [] : [[doing(spec, access, width, readNumbers(spec.patterns[number][0])), number]];
  }))));
  return numbers.get(spec);
}

// Python's answer, with what was measured of the same addresses.
function fromAnswer(spec, measured, { access }, width, answer) {
  if (answer === undefined || answer.error) return answer ?? null;
  const seen = (addresses) => measurement(measured[numbersOf(spec).get(doing(spec, access, width, addresses))] ?? null);
  return {
    ...answer, waves: answer.waves.map(({ lanes }) => lanes), measured: seen(answer.addresses),
    alternatives: answer.alternatives.map((one) => ({ ...one, measured: one.addresses && seen(one.addresses) })),
  };
}

// The lanes of each wavefront, from a sign a lane.
function wavesOf(signs) {
  const waves = [];
  [...signs].forEach((sign, lane) => sign !== "." && (waves[parseInt(sign, 36)] ??= []).push(lane));
  return waves;
}

// One state. `told` is what is known of it, from the tables or from Python's answer; null where nobody has said.
export function lookUp(spec, measured, state, answers) {
  const width = widthOf(spec, state);
  const question = JSON.stringify({
    tile: { rows: state.rows, row_bytes: state.row_bytes, swizzle: state.swizzle, padding_bytes: state.padding, base: state.base },
    access: { access: state.access, width_bytes: width, op: "load", expression: state.access === "expression" ? state.edit : "" },
  });
  const told = fromTables(spec, measured, state) ?? fromAnswer(spec, measured, state, width, answers.get(question));
  const runs = told !== null && !told.error;
  const waves = runs ? told.waves.length : 0;
  return {
    state, width, question, told, runs, measured: runs && told.measured !== null, matrix: spec.matrix.includes(state.access),
    wave: Math.min(state.wave, waves), waves, lane: state.lane, words: runs ? wordsOf(told, width) : [],
  };
}

// --- what is drawn ----------------------------------------------------------------------------------------------------

// The words of each lane.
const wordsOf = ({ addresses }, width) => addresses.map((address) =>
  (address === null ? [] : Array.from({ length: Math.max(1, width / 4) }, (_, i) => Math.floor(address / 4) + i)));

// The 128-byte lines that are read, each with the lanes of each of its words: [{line, lanes: 32 lists}].
export function linesOf(found) {
  const lines = new Map();
  found.words.forEach((words, lane) => words.forEach((word) => {
    const line = Math.floor(word / BANKS);
    if (!lines.has(line)) lines.set(line, Array.from({ length: BANKS }, () => []));
    lines.get(line)[word % BANKS].push(lane);
  }));
  return [...lines].sort(([one], [other]) => one - other).map(([line, lanes]) => ({ address: line * LINE_BYTES, first: line * BANKS, lanes }));
}

// Where an arrow key, Home or End leads from word `from` of the drawn lines: to the next word that is read, up and down to
// the nearest bank; null where the key is none of them. Words are counted line by line.
export function walkWords(lines, from, key) {
  const row = Math.floor(from / BANKS), bank = from % BANKS;
  const read = (at) => (lines[at]?.lanes ?? []).flatMap((lanes, where) => (lanes.length ? [where] : []));
  const nearest = (banks) => banks.reduce((best, one) => (Math.abs(one - bank) < Math.abs(best - bank) ? one : best));
  const go = (at, banks) => (banks.length ? at * BANKS + nearest(banks) : from);
  switch (key) {
    case "ArrowLeft": return go(row, read(row).filter((one) => one < bank));
    case "ArrowRight": return go(row, read(row).filter((one) => one > bank));
    case "ArrowUp": return go(row - 1, read(row - 1));
    case "ArrowDown": return go(row + 1, read(row + 1));
    case "Home": return go(row, read(row).slice(0, 1));
    case "End": return go(row, read(row).slice(-1));
    default: return null;
  }
}

// For each bank, how many distinct words it must deliver: {all, until} the wavefront that is looked at, and {now} in it.
export function banksOf(found) {
  const all = Array.from({ length: BANKS }, () => new Set()), until = all.map(() => new Set()), now = all.map(() => new Set());
  const add = (sets, lanes) => lanes.forEach((lane) => found.words[lane].forEach((word) => sets[word % BANKS].add(word)));
  if (found.runs) found.told.waves.forEach((lanes, at) => {
    add(all, lanes);
    if (!found.wave || at < found.wave) add(until, lanes);
    if (at === found.wave - 1) add(now, lanes);
  });
  return all.map((words, bank) => ({ all: words.size, until: until[bank].size, now: now[bank].size }));
}

export const waveOf = (found, lane) => found.told.waves.findIndex((lanes) => lanes.includes(lane)) + 1;
export const lanesAt = (found) => (found.wave ? found.told.waves[found.wave - 1] : found.told.addresses.map((_, lane) => lane));
export const chunkOf = (found, lane) => Math.floor(found.told.places[lane][1] / 16);

// --- putting into words -----------------------------------------------------------------------------------------------

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
export const range = (first, count) => (count === 1 ? String(first) : `${first}–${first + count - 1}`);
export const wayOf = (degree) => (degree === 1 ? "no conflict" : `${degree}-way conflict`);
export const layoutName = ({ swizzle, padding_bytes: padding }) => (padding ? `padded by ${padding}` : swizzle === "none" ? "plain" : swizzle);
export const cycles = (value) => {
  const shown = value.toFixed(1);
  return `${shown} cycle${shown === "1.0" ? "" : "s"}`;
};

const NOBODY = "Nobody has computed this state yet.";
export function sentence(found, lane, gpu) {
  const { told, width, words } = found;
  if (told === null) return NOBODY;
  if (told.error) return told.error;
  const paid = found.state.view === "model" ? "" : found.measured ? ` The ${gpu} took ${cycles(told.measured.cycles)} an access: ${plural(told.measured.count, "wavefront")}.` : " Model, not measured.";
  const [row, byte] = told.places[lane];
  const word = words[lane];
  const reads = found.matrix ? `Lane ${lane} names row ${lane % 8} of matrix ${lane >> 3}` : `Lane ${lane} reads`;
  const taken = `${reads}${found.matrix ? ":" : ""} row ${row}, ${width === 1 ? "byte" : "bytes"} ${range(byte, width)} of the tile`;
  const stands = `→ shared byte ${told.addresses[lane]}, ${word.length === 1 ? "word" : "words"} ${range(word[0], word.length)} of ${word.length === 1 ? "bank" : "banks"} ${range(word[0] % BANKS, word.length)}`;
  return `${taken} ${stands}. It comes in wavefront ${waveOf(found, lane)} of ${found.waves}.${paid}`;
}

// What is said of a number that is none; `typed` is empty for letters, too.
export function numberError(legend, least, typed) {
  return `${legend} must be a whole number from ${least} to 999999999: ${typed === "" ? "no number is given" : `${typed} is given`}.`;
}

export const HEAD = ["Lane", "Row", "Byte of the row", "Shared byte", "Words", "Banks", "Wavefront"];
export function tableOf(found) {
  if (!found.runs) return [];
  return found.words.map((words, lane) => [
    lane, found.told.places[lane][0], range(found.told.places[lane][1], found.width), found.told.addresses[lane],
    range(words[0], words.length), range(words[0] % BANKS, words.length), waveOf(found, lane),
  ].map(String));
}

// The part of a long expression around a column, and where in it the caret stands.
export function pointAt(text, column) {
  const from = Math.max(0, Math.min(column - 20, text.length - 40));
  return `${text.slice(from, from + 40)}\n${" ".repeat(column - 1 - from)}^`;
}
