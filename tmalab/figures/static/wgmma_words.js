// The figure "wgmma" in words and tables: one state looked up in what Python computed (wgmma_tables.py). No document.
const NO_CHUNK = -1;
export const ACROSS = 8, CHUNKS = 512, BAND = 8;

export function unpackPairs(text) {
  return Array.from({ length: text.length / 2 }, (_, i) => text.slice(2 * i, 2 * i + 2)).map((pair) => (pair === "--" ? NO_CHUNK : parseInt(pair, 36)));
}

const both = (one) => {
  const model = unpackPairs(one.model);
  return [model, one.hardware === null || one.hardware === "=" ? model : unpackPairs(one.hardware)];
};

// One state: the chunk that was read for each, and what stands at each 16 bytes of shared memory, as the view has them.
export function lookUp(spec, state) {
  const [tile, descriptor] = ["tile", "descriptor"].map((name) => spec.choices[name].indexOf(state[name]));
  const one = spec.states[tile * spec.descriptors.length + descriptor];
  const [model, hardware] = both(one), [placesModel, placesHardware] = both(spec.tiles[tile]);
  const measured = one.hardware !== null, side = state.view === "model" || !measured ? "model" : "hardware";
  const [read, places] = side === "model" ? [model, placesModel] : [hardware, placesHardware];
  const unequal = new Set(model.flatMap((chunk, at) => (chunk === hardware[at] ? [] : [at])));
  const moved = placesModel.filter((chunk, at) => chunk !== placesHardware[at]).length;
  const where = new Map(places.map((chunk, place) => [chunk, place])), readers = new Map(read.map((chunk, asked) => [chunk, asked]));
  return {
    spec, one, tile: spec.tiles[tile], descriptor: spec.descriptors[descriptor], measured, side, model, hardware, read, places, unequal, moved, where, readers,
    key: tile * spec.descriptors.length + descriptor,
  };
}

export const byteOf = (found, chunk) => (chunk !== NO_CHUNK && found.where.has(chunk) ? 16 * found.where.get(chunk) : null);
export const wrong = (found, view, chunk) => view !== "model" && found.unequal.has(chunk);
const pair = (chunk) => (chunk === NO_CHUNK ? null : [Math.floor(chunk / ACROSS), (chunk % ACROSS) * 8]);
export const short = (chunk) => (chunk === NO_CHUNK ? "no chunk" : `${pair(chunk)[0]}, ${pair(chunk)[1]}–${pair(chunk)[1] + 7}`);
const name = (chunk) => (chunk === NO_CHUNK ? "no chunk of the tile" : "row " + short(chunk).replace(", ", ", columns "));

export function sayAbout(found) {
  const right = found.one.right[found.side], all = 8 * CHUNKS;
  const told = right === all ? "Every element is the one that was asked for." : `${all - right} of ${all} elements are not the ones that were asked for.`;
  return `${found.tile.about} ${found.descriptor.about} ${told}`;
}

export function sayProduct(found) {
  const [wrongs, off] = found.one.product[found.side];
  return `${wrongs} of 512 wrong` + (wrongs ? `, by up to ${off}` : "");
}

export function count(found) {
  const some = found.unequal.size;
  return `${some} of ${CHUNKS} chunks ${some === 1 ? "differs" : "differ"}${found.moved ? `, and ${found.moved} of shared memory` : ""}`;
}

export function note(found, view, gpu) {
  if (view === "model") return "as the model predicts it";
  if (!found.measured) return "model, not measured";
  return view === "difference" || found.unequal.size || found.moved ? count(found) : `as the ${gpu} read it`;
}

// The key of the large rows: what a cell says, and the swatches with their words.
export function keyOf(view) {
  const cell = "A cell is eight elements: the row and the first column that were read, ";
  if (view !== "difference") return { cell: `${cell}and their shared byte.`, swatches: [["same", "the ones asked for"], ["other", "others"]] };
  return { cell: `${cell}and their shared byte, or after ≠ what the model says.`, swatches: [["equal", "as the model says"], ["unequal", "not"]] };
}

export function say(found, view, chunk) {
  const read = found.read[chunk], byte = byteOf(found, read), there = byteOf(found, chunk), asked = name(chunk);
  const told = read === chunk
    ? `R${asked.slice(1)}: read from shared byte ${there}, where it stands.`
    : `Asked for ${asked}${there === null ? "" : `, which stands at shared byte ${there}`}, wgmma read ${byte === null ? "" : `shared byte ${byte}: `}${name(read)}.`;
  if (view === "model") return told;
  if (!found.measured) return told + " Model, not measured.";
  if (!found.unequal.has(chunk)) return told + " Measured: so it is.";
  return told + ` Measured, where the model says ${name(found.model[chunk])}.`;
}

// A place of shared memory that nothing was read from.
export function sayPlace(found, place) {
  return `Shared byte ${16 * place} holds ${name(found.places[place])}; it was not read.`;
}

export const HEAD = ["Row, columns asked for", "Shared byte", "The hardware read", "The model says", "Right", "Equal"];
export function tableOf(found, rows) {
  return Array.from({ length: BAND * ACROSS }, (_, i) => rows * ACROSS + i).map((chunk) => ({
    key: chunk,
    cells: [
      short(chunk), String(byteOf(found, chunk) ?? "–"), found.measured ? short(found.hardware[chunk]) : "not measured", short(found.model[chunk]),
      found.read[chunk] === chunk ? "right" : "wrong", found.measured ? (found.unequal.has(chunk) ? "differs" : "equal") : "–",
    ],
  }));
}

export function dataOf(found) {
  return found.model.map((model, chunk) => ({
    asked: pair(chunk), shared_byte: byteOf(found, chunk), model: pair(model), hardware: found.measured ? pair(found.hardware[chunk]) : "not measured",
    right: found.read[chunk] === chunk,
  }));
}
