// "Many atoms in one copy" without a page: one state looked up in the tables that Python made (atoms_tables.py), and put
// into words. A chunk of the slice is its number, 16 row + chunk; a chunk of shared memory is its place, 16 bytes each.
import { CHANGED, UNTOUCHED, unpack } from "./geometry.js";

export const CHUNK_BYTES = 16;
export const LINE_CHUNKS = 8; // a line of shared memory: 128 bytes
const CHUNK_ELEMENTS = 8;
const GROUP_ROWS = 16;

// One state. `target` has for each chunk of the slice the place that the model gives it.
export function lookUp(spec, state) {
  const { choices, matrix, tables } = spec;
  const number = choices.swizzle.indexOf(state.swizzle) * choices.group.length + choices.group.indexOf(state.group);
  const column = choices.col.indexOf(state.col);
  const one = spec.views[number], fields = one.fields[column];
  const found = { one, number, fields, state, across: matrix.slice, refused: one.refused?.[state.copies] ?? null };
  if (found.refused) {
    return { ...found, measured: found.refused.accepted !== null, line: found.refused.line, model: [], hardware: [], compared: [], unequal: new Set(), verdict: "" };
  }
  const run = one.runs[state.copies][column];
  const count = (one.lines + 1) * LINE_CHUNKS; // one line more, to see that nothing is written behind the box
  const model = unpack(tables[one.model], count), measured = run.table >= 0;
  const hardware = measured ? unpack(tables[run.table], count) : model;
  const places = model.map((_, place) => place);
  return {
    ...found, measured, line: run.line, model, hardware, linear: unpack(tables[one.linear], count), verdict: one.verdicts[column],
    changed: new Map(run.changed.map((one) => [one.chunk, one])),
    compared: places.filter((place) => model[place] !== UNTOUCHED || hardware[place] !== UNTOUCHED),
    unequal: new Set(places.filter((place) => model[place] !== hardware[place])),
    target: new Map(model.flatMap((what, place) => (what >= 0 ? [[what, place]] : []))),
    shown: state.view === "model" ? model : hardware,
  };
}

export const byteOf = (place) => place * CHUNK_BYTES;
export const groupOf = (found, place) => Math.floor(byteOf(place) / (GROUP_ROWS * found.one.pitch));
export const atomNumber = (found, place) => (found.one.atom ? Math.floor(byteOf(place) / found.one.atom) : groupOf(found, place));

export function atomOf(found, place) {
  const { pitch, atom } = found.one, byte = byteOf(place);
  return atom ? `atom ${Math.floor(byte / atom)}, row ${Math.floor((byte % atom) / pitch)}` : `row ${Math.floor(byte / pitch) % GROUP_ROWS}`;
}

export const nameOf = (found, number) => `row ${Math.floor(number / found.across)}, column ${found.state.col + CHUNK_ELEMENTS * (number % found.across)}`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

export function held(found, table, place) {
  const what = table[place];
  if (what === UNTOUCHED) return "untouched";
  return what === CHANGED ? `bytes ${found.changed.get(place).bytes}` : nameOf(found, what);
}

export function count(found) {
  const some = found.unequal.size;
  return `${some} of ${found.compared.length} chunks ${some === 1 ? "differs" : "differ"}`;
}

// The key below global memory; `bare` where no cell is coloured but for one that differs.
export const keyOf = (bare) => `One cell = 16 bytes = 8 elements. ${bare ? "Its number" : "Its number and its colour"}: which chunk it is of its 128 bytes`
  + (bare ? ". Dashed: differs" : "");

export function verdict(found, place) {
  if (found.state.view === "model") return "";
  if (!found.measured) return " Model, not measured.";
  if (!found.unequal.has(place)) return " Measured: so it is.";
  return ` Measured: ${held(found, found.hardware, place)}, where the model says ${held(found, found.model, place)}.`;
}

// The sentence about a chunk of the slice.
export function sayChunk(found, number) {
  const { one, state } = found;
  const place = found.target.get(number), row = Math.floor(number / found.across), chunk = number % found.across;
  const group = Math.floor(chunk / one.width), first = state.col / CHUNK_ELEMENTS / one.width;
  const view = `{${CHUNK_ELEMENTS * (chunk % one.width)}, ${row}, ${first + group}}`;
  const where = state.copies === "3-D" ? ` = ${view} → g${group}` : ` → copy ${group + 1} of ${one.groups}, g${group}`;
  const linear = found.linear.indexOf(number), line = Math.floor(linear / LINE_CHUNKS), phase = one.phases[line % one.phases.length];
  const xor = !one.atom ? "no swizzle"
    : `place ${linear % LINE_CHUNKS} XOR ${phase} = ${place % LINE_CHUNKS}, as line ${line} mod ${one.phases.length} = ${phase}`;
  return `${capital(nameOf(found, number))}${where}, ${atomOf(found, place)} → ${xor} → shared byte ${byteOf(place)}.${verdict(found, place)}`;
}

// The sentence about a place that holds no chunk of the slice.
export function sayPlace(spec, found, place) {
  const words = `Shared byte ${byteOf(place)}, g${groupOf(found, place)}, ${atomOf(found, place)}`;
  if (found.state.view !== "model" && found.unequal.has(place)) return `${words}.${verdict(found, place)}`;
  return `${words}: padding. No copy wrote it; it still holds ${spec.background} in every byte, and the barrier does not count it.`;
}

export function sayRefused({ refused }) {
  const told = refused.broken.map((one) => `${one.message} ${one.fix}`).join(" ");
  const said = refused.accepted === null ? "Model, not measured." : refused.accepted ? "The driver took it all the same." : "Measured: the driver refuses it.";
  return `Refused: ${told} ${said}`;
}

// What the driver said to both maps of a view that breaks a rule.
export function sayBoth({ one }) {
  const said = Object.values(one.refused).map(({ accepted }) => accepted);
  if (said.includes(null)) return "By the model, the driver refuses both.";
  return said.includes(true) ? "The driver took what the model calls refused." : "Measured: the driver refuses both.";
}

// The same as a table of texts: {head, rows: [{key, cells}]}.
export function tableOf(found) {
  if (found.refused) {
    const said = found.refused.accepted === null ? "not measured" : found.refused.accepted ? "accepted" : "refused";
    const names = ["rule", "field", "value", "limit", "fix"];
    return {
      head: ["Rule", "Field", "Value", "Limit", "Fix", "The driver"],
      rows: found.refused.broken.map((one, key) => ({ key, cells: [...names.map((name) => one[name]), said] })),
    };
  }
  const end = found.one.lines * LINE_CHUNKS;
  const rows = found.compared.map((place) => ({
    key: place,
    cells: [
      String(byteOf(place)), ...(place >= end ? ["–", "behind the box"] : [`g${groupOf(found, place)}`, atomOf(found, place)]),
      String(place % LINE_CHUNKS), found.measured ? held(found, found.hardware, place) : "not measured", held(found, found.model, place),
      found.measured ? (found.unequal.has(place) ? "differs" : "equal") : "–",
    ],
  }));
  return { head: ["Shared byte", "Group", "Atom and row", "Place", "The hardware left", "The model says", "Equal"], rows };
}
