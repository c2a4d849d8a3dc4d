// Figure 1 without a page: one state looked up in the tables that Python made (tile_tables.py), and put into words.
import { CHANGED, UNTOUCHED, stateIndex, unpack } from "./geometry.js";

export const CHUNK_BYTES = 16;
export const LINE_CHUNKS = 8; // a line of shared memory: 128 bytes, one word of every bank

// --- looking up -------------------------------------------------------------------------------------------------------

// One state, unpacked. A chunk of shared memory is counted from the start of shared memory, a chunk of the tensor
// (its id) row by row, a chunk of the box (its index) likewise.
//   hardware, model   what each chunk of shared memory holds: an id, UNTOUCHED or CHANGED
//   ids[index]        which chunk of the tensor the box's chunk is
//   at(table, id)     where in shared memory it stands, a list
export function lookUp(spec, state) {
  const mode = spec.swizzles[state.swizzle];
  const number = stateIndex(Object.entries(spec.choices).slice(0, 4), state);
  const tensorCols = spec.tensor.chunks, boxCols = mode.chunks;
  const firstCol = spec.columns[spec.choices.col.indexOf(state.col)];
  const ids = mode.linear.map((_, i) => (state.row + Math.floor(i / boxCols)) * tensorCols + firstCol + (i % boxCols));
  const model = unpack(spec.tables[spec.model[number]], spec.smem.chunks);
  const measured = spec.hardware[number] >= 0;
  const hardware = measured ? unpack(spec.tables[spec.hardware[number]], spec.smem.chunks) : model;
  const bytes = new Map((spec.changed[number] ?? []).map((one) => [one.chunk, one]));
  const compared = model.map((_, i) => i).filter((i) => model[i] !== UNTOUCHED || hardware[i] !== UNTOUCHED);
  const unequal = new Set(compared.filter((i) => model[i] !== hardware[i]));
  const at = (table, id) => table.flatMap((held, i) => (held === id ? [i] : []));
  const area = { row: state.row, col: firstCol, rows: mode.linear.length / boxCols, cols: boxCols };
  return { number, mode, ids, model, hardware, measured, bytes, compared, unequal, at, area };
}

// --- putting into words -----------------------------------------------------------------------------------------------

export const lineOf = (chunk) => Math.floor(chunk / LINE_CHUNKS);
export const slotOf = (chunk) => chunk % LINE_CHUNKS;
export const byteOf = (chunk) => chunk * CHUNK_BYTES;
export const columnOf = (spec, id) => id % spec.tensor.chunks;
export const nameOf = (spec, id) => `row ${Math.floor(id / spec.tensor.chunks)}, column ${columnOf(spec, id)}`;
export const capital = (text) => text[0].toUpperCase() + text.slice(1);

// What a chunk of shared memory holds, in words.
export function held(spec, found, table, chunk) {
  const what = table[chunk];
  if (what === UNTOUCHED) return "untouched";
  return what === CHANGED ? `bytes ${found.bytes.get(chunk).bytes}` : nameOf(spec, what);
}

// The XOR for one chunk of the box, "chunk 5 XOR row 3 = 6": with the row where the box's rows are shared memory's first
// lines, else with the line of shared memory, whose number is what the engine really takes.
export function arithmetic(spec, state, found, index) {
  const { mode } = found;
  const linear = state.base / CHUNK_BYTES + mode.linear[index];
  const line = lineOf(linear), slot = slotOf(linear);
  if (mode.period === 1) return `no swizzle: it stays chunk ${slot} of line ${line}`;
  const phase = mode.phases[line], to = slotOf(found.at(found.model, found.ids[index])[0]);
  if (state.base === 0 && mode.chunks === LINE_CHUNKS) {
    return `${state.row || state.col ? `chunk ${slot} of the box's row ${line}: ` : ""}chunk ${slot} XOR row ${line} = ${to}`;
  }
  const words = `unswizzled it is chunk ${slot} of line ${line}: chunk ${slot} XOR `;
  return words + (line === phase ? `line ${line} = ${to}` : `${phase} = ${to}, as line ${line} mod ${mode.period} = ${phase}`);
}

const place = (spec, chunk) => `shared byte ${byteOf(chunk)}, banks ${spec.banks[slotOf(chunk)]}`;

// The sentence about one chunk of the box.
export function sayBox(spec, state, found, index, view, gpu) {
  const id = found.ids[index];
  const [expected] = found.at(found.model, id);
  const words = `${capital(nameOf(spec, id))} → ${arithmetic(spec, state, found, index)} → ${place(spec, expected)}.`;
  if (view === "model" || !found.measured) return words;
  const seen = found.at(found.hardware, id);
  if (seen.length === 1 && seen[0] === expected) return `${words} The ${gpu} put it there.`;
  if (seen.length > 0) return `${words} The ${gpu} put it at ${seen.map((chunk) => place(spec, chunk)).join(" and at ")}.`;
  return `${words} The ${gpu} did not put it there: ${sayWrong(spec, found, expected)}.`;
}

// What is different at a chunk of shared memory, in words.
function sayWrong(spec, found, chunk) {
  const one = found.bytes.get(chunk);
  if (one) return `byte ${one.byte} is ${one.is}, the model says ${one.not}`;
  return `the hardware left ${held(spec, found, found.hardware, chunk)}, the model says ${held(spec, found, found.model, chunk)}`;
}

// The sentence about a chunk of shared memory that holds no chunk of the box.
export function sayShared(spec, found, chunk) {
  const words = capital(place(spec, chunk));
  if (found.unequal.has(chunk)) return `${words}: ${sayWrong(spec, found, chunk)}.`;
  return `${words}: untouched, still 0x${spec.smem.background} in every byte.`;
}

export function count(found) {
  const some = found.unequal.size;
  return `${some} of ${found.compared.length} chunks ${some === 1 ? "differs" : "differ"}`;
}

// The same as data: what Python's TileFigure.data() gives.
export function tableOf(spec, found) {
  const plain = (table, chunk) => {
    const what = table[chunk];
    if (what === UNTOUCHED) return null;
    if (what === CHANGED) return found.bytes.get(chunk).bytes;
    return [Math.floor(what / spec.tensor.chunks), columnOf(spec, what)];
  };
  return found.compared.map((chunk) => ({
    shared_byte: byteOf(chunk),
    banks: spec.banks[slotOf(chunk)],
    hardware: found.measured ? plain(found.hardware, chunk) : "not measured",
    model: plain(found.model, chunk),
    equal: found.measured ? !found.unequal.has(chunk) : null,
  }));
}
