// The box explorer without a page: one state looked up in what Python said of it (box_tables.py, checker/explore.py),
// where the box may go next, and the words.

const LISTS = ["global_dim", "global_strides", "box_dim", "element_strides"];
export const FIELDS = ["dtype", ...LISTS, "swizzle", "oob_fill"];

// --- the reader's own map, in one word: float32;16.8;64;8.4;1.1;none;none ---------------------------------------------

export function readEdit(text) {
  const parts = text.split(";");
  if (parts.length !== FIELDS.length) return null;
  const fields = Object.fromEntries(FIELDS.map((name, i) => [name, LISTS.includes(name) ? readList(parts[i]) : parts[i]]));
  const rank = fields.global_dim?.length;
  const fits = LISTS.every((name) => fields[name]?.length === rank - (name === "global_strides" ? 1 : 0));
  return fits && rank > 0 ? fields : null;
}

export const writeEdit = (fields) => FIELDS.map((name) => (LISTS.includes(name) ? fields[name].join(".") : fields[name])).join(";");

// Integers with commas, points or spaces between them; null where something else stands there.
export function readList(text) {
  const parts = text.trim().split(/[\s,.]+/).filter(Boolean);
  return parts.every((part) => /^[+-]?\d{1,15}$/.test(part)) ? parts.map(Number) : null;
}

export const whole = (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined);
export const natural = (text) => (whole(text) >= 0 ? whole(text) : undefined);

// --- looking up -------------------------------------------------------------------------------------------------------

export const placeOf = (coords) => coords.join(".");

// What is known of one state. `told` is Python's answer, recorded with the page or given since; null where there is none.
export function lookUp(spec, state, answers) {
  const example = spec.examples.find(({ name }) => name === state.example);
  const fields = (state.edit && readEdit(state.edit)) || example.fields;
  const coords = state.coords.length === fields.global_dim.length ? [...state.coords] : example.first;
  const question = JSON.stringify({ tensor_map: fields, coords, smem_base: state.base });
  const copy = fields === example.fields && state.base === 0 ? example.copies[placeOf(coords)] : undefined;
  const told = copy ? { ...example.map, ...copy } : answers.get(question) ?? null;
  const runs = told?.verdict === "runs" && told.shared !== null;
  const [width = 1, height = 1, ...outer] = told?.copied ?? [];
  const layers = outer.reduce((product, size) => product * size, 1);
  const plane = width * height;
  const first = plane * Math.min(state.layer, layers - 1);
  return {
    example, fields, coords, base: state.base, question, told, runs, layers, plane, first, width, height,
    measured: (told?.line ?? -1) >= 0, singled: first + Math.min(state.cell, plane - 1),
  };
}

// An element of the box, counted with the innermost dimension fastest: its position in the box, innermost first.
export function boxPosition(found, element) {
  let rest = element;
  return found.told.copied.map((size) => {
    const at = rest % size;
    rest = Math.floor(rest / size);
    return at;
  });
}

export const indicesOf = (found, element) => boxPosition(found, element).map((at, dim) => found.told.taken[dim][at]);

export const exists = (found, element) =>
  boxPosition(found, element).every((at, dim) => at >= found.told.inside[dim][0] && at < found.told.inside[dim][1]);

// The element of the layer that is column x and row y of the tensor; -1 where the box takes none there.
export function elementAt(found, x, y) {
  const { taken } = found.told;
  const column = taken[0].indexOf(x), row = taken.length > 1 ? taken[1].indexOf(y) : y === 0 ? 0 : -1;
  return column < 0 || row < 0 ? -1 : found.first + row * found.width + column;
}

// Whether the plane that the layer shows is one of the tensor's.
export const planeExists = (found, element) => boxPosition(found, element).slice(2)
  .every((at, i) => at >= found.told.inside[i + 2][0] && at < found.told.inside[i + 2][1]);

// --- where the box may go without Python ------------------------------------------------------------------------------

const places = (example) => Object.keys(example.copies).map((key) => key.split(".").map(Number));
const distance = (one, other) => one.reduce((sum, value, i) => sum + Math.abs(value - other[i]), 0);
const nearest = (candidates, target) => candidates.reduce(
  (best, one) => (best === null || distance(one, target) < distance(best, target) ? one : best), null);

// The recorded place that comes next when coordinate `dim` goes up (step 1) or down (-1); null where none does.
export function nextPlace(example, coords, dim, step) {
  const further = places(example).filter((one) => (one[dim] - coords[dim]) * step > 0);
  const sideways = (one) => distance(one, coords) - Math.abs(one[dim] - coords[dim]);
  const least = Math.min(...further.map(sideways));
  return nearest(further.filter((one) => sideways(one) === least), coords);
}

// The recorded place that is nearest to where the reader drags the box.
export const nearestPlace = (example, target) => nearest(places(example), target);

// --- what is drawn ----------------------------------------------------------------------------------------------------

const MOST = [48, 32]; // columns and rows that are drawn one by one

// The part of the plane of the two innermost dimensions that is drawn: {left, top, cols, rows, cells}.
export function windowOf(found) {
  const sizes = [...found.fields.global_dim, 1], boxes = [...found.fields.box_dim, 1], starts = [...found.coords, 0];
  const own = found.fields === found.example.fields ? found.example.window : [[0, sizes[0]], [0, sizes[1]]];
  const [[left, right], [top, bottom]] = own.map(([from, to], dim) => [
    Math.min(from, 0, starts[dim]), Math.max(to, sizes[dim], starts[dim] + boxes[dim]),
  ]);
  const cols = right - left, rows = bottom - top;
  return { left, top, cols, rows, cells: cols <= MOST[0] && rows <= MOST[1] };
}

const TINTS = 8;
export function tintOf(found, column) {
  const chunk = Math.floor(column / found.told.chunk_elements);
  return `--tint:var(--tma-c${((chunk % TINTS) + TINTS) % TINTS})`;
}

// --- putting into words -----------------------------------------------------------------------------------------------

export const tuple = (values) => `(${values.join(", ")})`;

// What the model says that shared memory holds for an element of the box, and what the hardware left there.
export const said = (found, element) => (exists(found, element) ? `element ${tuple(indicesOf(found, element))}` : `fill ${found.told.fill}`);
export const changedAt = (found, element) => found.told.changed?.find((one) => one.element === element);
export const left = (found, element) => (found.measured ? changedAt(found, element)?.holds ?? said(found, element) : "not measured");

export const count = ({ told }) => `${told.differing} of ${told.of} bytes ${told.differing === 1 ? "differs" : "differ"}`;

const FINE = "The driver takes the map, and the engine runs this copy.";
export function verdict({ told }) {
  if (told.error) return [told.error];
  const broken = [...told.violations, ...told.faults].map((one) => `${one.message} ${one.fix}`);
  return broken.length ? broken : [FINE];
}

export function sentence(found, element, gpu) {
  const { told } = found;
  if (told === null) return "Nobody has computed this state yet.";
  if (told.error) return told.error;
  const model = found.measured ? "" : " Model, not measured.";
  if (told.verdict === "refused") {
    return `The driver refuses the map, so there is nothing to copy with.${found.measured ? ` The ${gpu}'s driver ${told.outcome} it.` : model}`;
  }
  if (told.verdict === "fault") {
    return `The engine refuses the copy.${found.measured ? ` On the ${gpu} the launch ended with ${told.outcome}.` : model}`;
  }
  if (told.shared === null) return `The box has too many elements to tell them one by one.${model}`;
  const place = told.shared[element];
  const words = `Box element ${tuple(boxPosition(found, element))} is tensor element ${tuple(indicesOf(found, element))}`;
  const there = exists(found, element);
  const row = told.row_bytes[Math.floor(element / found.width)], column = told.column_bytes[boxPosition(found, element)[0]];
  const where = there ? `, at byte ${row} + ${column} → shared byte ${place}.`
    : `, which does not exist → shared byte ${place} is filled with ${told.fill}, and counted.`;
  if (!found.measured) return words + where + model;
  const changed = changedAt(found, element);
  if (changed) return `${words}${where} The ${gpu} left ${changed.holds} there.`;
  return `${words}${where} The ${gpu} ${there ? "put it there" : "filled it"}.`;
}

export const HEAD = ["Box element", "Shared byte", "The hardware left", "The model says", "Equal"];
export function tableOf(found) {
  if (!found.runs) return [];
  return found.told.shared.map((byte, element) => {
    const model = said(found, element), seen = left(found, element);
    return [tuple(boxPosition(found, element)), String(byte), seen, model, found.measured ? (seen === model ? "equal" : "differs") : "–"];
  });
}
