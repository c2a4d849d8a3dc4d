// "Tiling and bank conflicts" without a page: one state looked up in the tables that Python made (tiling_tables.py), and
// put into words, as tiling_state.py does.
import { CHANGED, UNTOUCHED, stateIndex, unpack } from "./geometry.js";

export const CHUNK_BYTES = 16;
export const LINE_CHUNKS = 8; // a line of shared memory: 128 bytes, one word of every bank
const STATE = ["tiling", "swizzle", "column", "first_row"];

// --- looking up -------------------------------------------------------------------------------------------------------

// Where each chunk of the grid stands in shared memory, a list each.
function places(table) {
  const found = table.map(() => []);
  table.forEach((chunk, place) => chunk >= 0 && found[chunk].push(place));
  return found;
}

// One state. A chunk of shared memory is a place, a chunk of the grid a number, row by row.
//   hardware, model   what each place holds: a chunk of the grid, UNTOUCHED or CHANGED
//   at, expected      where each chunk of the grid stands, in this view and by the model
//   reads             the chunks that eight lanes read; groups: the bank groups of a chunk; stacks: the reads on each
export function readTiling(spec, state, counted) {
  const { choices, grid } = spec;
  const number = stateIndex(STATE.map((name) => [name, choices[name]]), state);
  const layoutNumber = stateIndex(STATE.slice(0, 2).map((name) => [name, choices[name]]), state);
  const layout = spec.layouts[layoutNumber], dtype = choices.dtype.indexOf(state.dtype);
  const count = grid.rows * grid.columns, measured = layout.hardware[dtype] >= 0;
  const model = unpack(spec.tables[layout.model[dtype]], count);
  const hardware = measured ? unpack(spec.tables[layout.hardware[dtype]], count) : model;
  const shown = state.view === "model" ? model : hardware;
  const at = places(shown), expected = places(model);
  const groups = (chunk) => [...new Set(at[chunk].map((place) => place % LINE_CHUNKS))].sort((one, other) => one - other);
  const reads = Array.from({ length: grid.reads }, (_, lane) => (state.first_row + lane) * grid.columns + state.column);
  return {
    state, number, source: layoutNumber * choices.dtype.length + dtype, layout, measured, model, hardware, shown, at, expected, reads, groups,
    columns: grid.columns, copy: layout.maps[dtype], refused: layout.refused?.[dtype] ?? null,
    stacks: Array.from({ length: LINE_CHUNKS }, (_, group) => reads.filter((chunk) => groups(chunk).includes(group))),
    bytes: new Map((layout.changed[dtype] ?? []).map((one) => [one.chunk, one])),
    unequal: new Set(model.flatMap((chunk, place) => (chunk === hardware[place] ? [] : [place]))),
    predicted: +spec.predicted[number], counted: counted === null ? null : +counted[number],
  };
}

export const wrong = (found, place) => found.state.view !== "model" && found.unequal.has(place);
export const lost = (found, chunk) => String(found.at[chunk]) !== String(found.expected[chunk]);

// --- putting into words -----------------------------------------------------------------------------------------------

export const capital = (text) => text[0].toUpperCase() + text.slice(1);
export const nameOf = (found, chunk) => `row ${Math.floor(chunk / found.columns)}, column ${chunk % found.columns}`;
const rowOf = (found, chunk) => Math.floor(chunk / found.columns);
const placeOf = (spec, place) => `S${place % LINE_CHUNKS}, banks ${spec.banks[place % LINE_CHUNKS]}, shared byte ${place * CHUNK_BYTES}`;

export function held(found, table, place) {
  const what = table[place];
  if (what === UNTOUCHED) return "untouched";
  return what === CHANGED ? `bytes ${found.bytes.get(place).bytes}` : nameOf(found, what);
}

function filled(found, chunk, group) {
  const column = chunk % found.columns;
  const numbers = { row: rowOf(found, chunk), local: column % LINE_CHUNKS, half: Math.floor(column / LINE_CHUNKS), group };
  return found.layout.filled.replace(/\{(\w+)\}/g, (_, name) => numbers[name]);
}

function rivals(found, chunk) {
  if (!found.reads.includes(chunk)) return "";
  const mine = found.groups(chunk);
  const others = found.reads.filter((one) => one !== chunk && found.groups(one).some((group) => mine.includes(group))).map((one) => rowOf(found, one));
  if (!others.length) return " No other of the eight reads wants its banks.";
  return ` Of the eight reads ${others.length === 1 ? `row ${others[0]} wants` : `rows ${others.join(", ")} want`} its banks too.`;
}

function verdict(found, place) {
  if (found.state.view === "model") return "";
  if (!found.measured) return " Model, not measured.";
  return found.unequal.has(place) ? ` Measured: it holds ${held(found, found.hardware, place)}.` : " Measured: so it is.";
}

// The sentence about a chunk of the grid, and about a place of shared memory that holds none.
export function sayChunk(spec, found, chunk) {
  const [place] = found.expected[chunk];
  return `${capital(nameOf(found, chunk))} → ${filled(found, chunk, place % LINE_CHUNKS)} → ${placeOf(spec, place)}.${rivals(found, chunk)}${verdict(found, place)}`;
}
export const sayPlace = (spec, found, place) =>
  `${placeOf(spec, place)}: ${held(found, found.shown, place)}; the model says ${held(found, found.model, place)}.`;

export function count(found) {
  const some = found.unequal.size;
  return `${some} of ${found.model.length} chunks ${some === 1 ? "differs" : "differ"}`;
}

export function results(found) {
  const groups = found.reads.map(found.groups);
  return `${groups.map((some) => some.join("/") || "–").join(" ")}: ${new Set(groups.flat()).size} distinct`;
}

const waves = (number) => `${number} wavefront${number === 1 ? "" : "s"}`;
export function costs(found) {
  const { predicted, counted, state } = found;
  const told = [`predicted: ${waves(predicted)}${predicted === 1 ? " (no conflict)" : ` (${predicted}-way conflict)`}`];
  if (state.view === "model") return told;
  if (counted === null) return [...told, "not counted on a GPU"];
  told.push(`measured: ${waves(counted)}`);
  return state.view === "difference" ? [...told, counted === predicted ? "they agree" : "they differ"] : told;
}

export const refusal = ({ accepted }) => (accepted === null ? "refused, says the model" : accepted ? "accepted by the driver" : "refused by the driver");

// The same as a table, what TilingFigure.table() gives, and as data, what its data() gives.
export const HEAD = ["Lane", "Row, column", "Bank group", "Banks", "Shared byte", "The hardware left there", "Equal"];
export function tableOf(spec, found) {
  const compared = (place) => [
    `S${place % LINE_CHUNKS}`, spec.banks[place % LINE_CHUNKS], String(place * CHUNK_BYTES),
    ...(found.measured ? [held(found, found.hardware, place), found.unequal.has(place) ? "differs" : "equal"] : ["not measured", "–"]),
  ];
  const read = found.reads.map((chunk) => found.expected[chunk][0]);
  const others = [...found.unequal].filter((place) => !read.includes(place)).sort((one, other) => one - other);
  return [
    ...read.map((place, lane) => ({ key: place, cells: [String(lane), `${rowOf(found, found.reads[lane])}, ${found.reads[lane] % found.columns}`, ...compared(place)] })),
    ...others.map((place) => ({ key: place, cells: ["–", "–", ...compared(place)] })),
  ];
}
export function dataOf(found) {
  const bytes = (table) => places(table).map((some) => some.map((place) => place * CHUNK_BYTES));
  return {
    predicted_wavefronts: found.predicted, measured_wavefronts: found.counted, bank_groups: found.reads.map(found.groups),
    model_shared_bytes: bytes(found.model), hardware_shared_bytes: found.measured ? bytes(found.hardware) : null,
  };
}
