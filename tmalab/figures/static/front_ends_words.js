// "One tile, many front ends" without a page: one state looked up in what Python made (front_ends_tables.py), and the
// words. front_ends_state.py reads the same tables in the same way.
import { CHANGED, UNTOUCHED, unpack } from "./geometry.js";

export const LINE_CHUNKS = 8, CHUNK_BYTES = 16, LINE_BYTES = LINE_CHUNKS * CHUNK_BYTES;
export const HEAD = ["Front end", "Version", "Shared memory", "Descriptor beside the driver's own", "Not as asked", "Copy"];
const UNMEASURED = "Model, not measured: there is no recording of this way.";
const NOT_KNOWN = "–";

export const differ = (one, other) => one !== NOT_KNOWN && other !== NOT_KNOWN && one !== other;

export function lookUp(spec, provenance, { view, way }) {
  const number = spec.ways.findIndex((one) => one.name === way);
  const told = spec.ways[number], one = provenance.ways[number], count = spec.lines * LINE_CHUNKS;
  const model = unpack(told.model, count), loaded = told.hardware !== null;
  const hardware = loaded ? unpack(told.hardware, count) : model;
  const bytes = new Map(told.changed.map((each) => [each.chunk, each]));
  const unequal = new Set(model.flatMap((what, at) => (what === hardware[at] ? [] : [at])));
  const source = view === "model" ? "Model: no run." : one ? one.line : UNMEASURED;
  return {
    told, one, model, hardware, loaded, bytes, unequal, source,
    empty: told.refused !== null && view !== "model", shown: view === "model" ? model : hardware,
  };
}

const short = (what) => (what < 0 ? NOT_KNOWN : `${Math.floor(what / LINE_CHUNKS)}.${what % LINE_CHUNKS}`);

// The two texts of a cell: the chunk's column in the box, and its row; or the byte that differs.
export function labelsOf(found, view, chunk) {
  const what = found.shown[chunk];
  if (found.unequal.has(chunk) && view !== "model") {
    const one = found.bytes.get(chunk);
    return one ? [`0x${one.is}`, `≠ ${one.not}`] : [short(what), `≠ ${short(found.model[chunk])}`];
  }
  return [String(what % LINE_CHUNKS), String(Math.floor(what / LINE_CHUNKS))];
}

export function nameOf(spec, what) {
  if (what === UNTOUCHED) return "untouched";
  if (what === CHANGED) return "no chunk of the tile";
  const [row, col] = spec.task.at, first = col + ((what % LINE_CHUNKS) * CHUNK_BYTES) / 2;
  return `row ${row + Math.floor(what / LINE_CHUNKS)}, columns ${first} to ${first + CHUNK_BYTES / 2 - 1} of the tensor`;
}

export function sentence(spec, found, { view }, chunk) {
  const { told } = found;
  if (found.empty) return `${told.name} refused: ${told.refused.type}. Nothing was loaded.`;
  const what = found.shown[chunk];
  let said = `Shared byte ${chunk * CHUNK_BYTES}: ${nameOf(spec, what)}.`;
  if (what >= 0) said += ` Chunk ${what % LINE_CHUNKS} of the row, in place ${chunk % LINE_CHUNKS} of line ${Math.floor(chunk / LINE_CHUNKS)}.`;
  if (view === "model") return said;
  if (!found.loaded) return `${said} Not measured.`;
  const model = found.unequal.has(chunk) ? nameOf(spec, found.model[chunk]) : "the same";
  return `${said} The model says ${model}; ${told.differ} of ${found.model.length * CHUNK_BYTES} bytes differ in all.`;
}

export function verdictOf(way) {
  if (way.refused) return "refused";
  if (way.differ === null) return "not measured";
  return way.differ ? `${way.differ} bytes differ` : "equal";
}

// What stands under a way's name: its tile beside the model's, its map beside the driver's.
export function chipOf(way) {
  if (way.refused || way.differ === null) return verdictOf(way);
  const map = way.unlike === null ? "not seen" : way.unlike.length ? "differs" : "equal";
  return `tile ${way.differ ? "differs" : "equal"} · map ${map}`;
}

// For each field: "wrong" where the descriptor is not the driver's own, "own" where it is not as asked.
export const marksOf = (way) =>
  way.fields.map(([, asked, made, driver]) => (differ(made, driver) ? "wrong" : differ(asked, made) ? "own" : ""));

export function besideOf({ unlike }) {
  if (unlike === null) return NOT_KNOWN;
  return unlike.length ? `differs in ${unlike.join(", ")}` : "equal";
}

export const tableOf = (spec, provenance) => spec.ways.map((way, key) => {
  const chosen = way.fields.filter(([, asked, made]) => differ(asked, made)).map(([field, , made]) => `${field} ${made}`);
  return {
    key,
    cells: [
      way.name, provenance.ways[key]?.version || NOT_KNOWN, way.refused ? `refused: ${way.refused.type}` : verdictOf(way),
      besideOf(way), chosen.join(", ") || NOT_KNOWN, way.call || NOT_KNOWN,
    ],
  };
});

const pair = (what) => (what < 0 ? null : [Math.floor(what / LINE_CHUNKS), what % LINE_CHUNKS]);

export const dataOf = (found) => ({
  smem: found.loaded ? found.hardware.map(pair) : null, model: found.model.map(pair),
  bytes_differing: found.told.differ, unlike_the_driver: found.told.unlike, fields: found.told.fields,
  refused: found.told.refused, ptx: found.one ? found.one.ptx : [], coords: found.told.coords,
});
