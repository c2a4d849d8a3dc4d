// "What the reader gets". Where each chunk of the tile stands was recorded, where a reader looks comes from the model
// (reader.py); here the one is looked up in the other.
import { stateIndex } from "./geometry.js";
import { card, cellGrid, h, segments, setAttribute, setText, slider } from "./kit.js";

const CHUNK_BYTES = 16;
const COLS = 8;
const TINTS = 8;
const NOTHING = -1;

// One state: for each chunk of the box the place at which the reader looks for it, and the chunk that it gets.
export function readTile(spec, state) {
  const { writer, base } = spec.choices;
  const number = stateIndex([["writer", writer], ["base", base]], state);
  const held = spec.held[number];
  const places = spec.places[state.reader][base.indexOf(state.base)];
  const got = places.map((place) => held[place]);
  const wrong = new Set(got.flatMap((chunk, wanted) => (chunk === wanted ? [] : [wanted])));
  return { number, held, places, got, wrong };
}

export const chunkName = (chunk) => (chunk === NOTHING ? "no chunk of the tile" : `row ${Math.floor(chunk / COLS)}, chunk ${chunk % COLS}`);
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const count = (found) => `${found.wrong.size} of ${found.got.length} chunks are wrong`;

export function sayChunk(state, found, chunk) {
  const got = found.got[chunk];
  const finds = got === chunk ? "the chunk it wants" : chunkName(got);
  return `${capital(chunkName(chunk))}: the reader looks at shared byte ${state.base + found.places[chunk] * CHUNK_BYTES} and finds ${finds}. ${count(found)}.`;
}

export function tableOf(state, found) {
  return found.got.map((got, chunk) => [
    chunkName(chunk), String(state.base + found.places[chunk] * CHUNK_BYTES), chunkName(got), got === chunk ? "right" : "wrong",
  ]);
}
const HEAD = ["The reader wants", "looks at shared byte", "finds", "which is"];

function render({ model, el }) {
  const spec = model.get("spec");
  const provenance = model.get("provenance");
  const rows = spec.cells.length / COLS;
  const state = () => Object.fromEntries([...Object.keys(spec.choices), "cell"].map((one) => [one, model.get(one)]));
  let now = state(), found = readTile(spec, now);
  let pointed = null; // the chunk of the box under the pointer; else the picked one

  const singled = () => pointed ?? now.cell[0] * COLS + now.cell[1];
  const measured = () => provenance.of[found.number] >= 0;
  const wantedAt = (place) => found.places.indexOf(place); // the chunk that the reader looks for at that place
  const about = (chunk) => { pointed = chunk; frame.light(); };
  const pick = (chunk) => {
    pointed = null;
    model.set("cell", [Math.floor(chunk / COLS), chunk % COLS]);
    model.save_changes();
  };

  const labels = [];
  const label = (row) => (labels[row] = h("span", { class: "tma-address", "aria-hidden": true }));
  const shared = cellGrid({
    label: `${spec.title}: shared memory`, rows, cols: COLS, before: label,
    onPoint: (place) => about(place === null ? null : wantedAt(place)), onPick: (place) => pick(wantedAt(place)),
  });
  const tile = cellGrid({
    label: `${spec.title}: the tile as it is read`, rows, cols: COLS,
    before: (row) => h("span", { class: "tma-address", "aria-hidden": true }, `row ${row}`), onPoint: about, onPick: pick,
  });
  const left = h("small"), right = h("small");
  const side = (title, note, grid) => h("div", {}, h("p", { class: "tma-head" }, h("b", {}, title), " ", note), grid.node);
  const stage = h("div", { class: "tma-stage tma-reader" }, side("Shared memory", left, shared), side("What the reader gets", right, tile));

  function cell(node, chunk, wrong, words) {
    setAttribute(node, "class", `tma-cell${wrong ? " tma-wrong" : chunk === NOTHING ? " tma-out" : ""}`);
    setAttribute(node, "style", chunk === NOTHING ? null : `--tint:var(--tma-c${chunk % TINTS})`);
    setText(node.firstChild, (chunk === NOTHING ? "?" : String(chunk % COLS)) + (wrong ? " ✗" : ""));
    setAttribute(node, "aria-label", words);
  }

  function light() {
    const chunk = singled();
    tile.cells.forEach((node, at) => node.classList.toggle("tma-hot", at === chunk));
    shared.cells.forEach((node, place) => node.classList.toggle("tma-hot", place === found.places[chunk]));
    return new Set([chunk]);
  }

  function paint() {
    now = state();
    found = readTile(spec, now);
    shared.cells.forEach((node, place) =>
      cell(node, found.held[place], false, `Shared byte ${now.base + place * CHUNK_BYTES}: ${chunkName(found.held[place])}`));
    tile.cells.forEach((node, chunk) => {
      const wrong = found.wrong.has(chunk);
      cell(node, found.got[chunk], wrong, capital(chunkName(chunk)) + (wrong ? `, wrong: ${chunkName(found.got[chunk])}` : ", right"));
    });
    labels.forEach((node, row) => setText(node, String(now.base + row * COLS * CHUNK_BYTES)));
    setText(left, measured() ? `as the ${provenance.gpu} left it` : "model, not measured");
    left.classList.toggle("tma-unmeasured", !measured());
    setText(right, count(found));
    tile.setStop(singled());
    shared.setStop(found.places[singled()]);
  }

  const source = () => (measured() ? provenance.lines[provenance.of[found.number]] : "Model, not measured: there is no recording of this state.");
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, cell: spec.cells },
    controls: [
      segments(model, "writer", "Written with", spec.choices.writer),
      segments(model, "reader", "Reader XORs with", spec.choices.reader),
      slider(model, "base", "Base", "Shared base address", spec.choices.base, "bytes"),
    ],
    stage, paint, light, provenance: source,
    sentence: () => sayChunk(now, found, singled()),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: source(),
      table: tableOf(now, found).map((row) => Object.fromEntries(row.map((text, i) => [HEAD[i], text]))),
    }),
    table: () => ({ head: HEAD, rows: tableOf(now, found).map((cells, key) => ({ key, cells })) }),
  });
  return frame.dispose;
}

export default { render };
