// "The same tile, read with the right and the wrong descriptor". Every number comes from Python (wgmma_tables.py): from
// recorded products, and from the model. wgmma_words.js looks them up and puts them into words; here they are drawn.
import { card, cellGrid, h, put, segments, setAttribute, setText, slider } from "./kit.js";
import { ACROSS, BAND, CHUNKS, HEAD, byteOf, dataOf, keyOf, lookUp, note, say, sayAbout, sayPlace, sayProduct, short, tableOf, wrong } from "./wgmma_words.js";

const LINES = CHUNKS / ACROSS, LINE_BYTES = 128;

// All 512 chunks of one side, small: for the eye and the pointer alone, since the large rows and the table say the same.
function map(kind, onPoint, onPick) {
  const cells = Array.from({ length: CHUNKS }, (_, at) => h("i", { "data-at": at }));
  const at = (event) => (event.target.dataset.at === undefined ? null : +event.target.dataset.at);
  const node = h("div", {
    class: `tma-wgmma-map tma-wgmma-${kind}`, "aria-hidden": true,
    onpointerover: (event) => onPoint(at(event)), onpointerleave: () => onPoint(null),
    onclick: (event) => at(event) !== null && onPick(at(event)),
  }, ...cells);
  return { node, cells };
}

function render({ model, el }) {
  const spec = model.get("spec");
  const provenance = model.get("provenance");
  const state = () => Object.fromEntries([...Object.keys(spec.choices), "cell"].map((one) => [one, model.get(one)]));
  let now = state(), found = lookUp(spec, now);
  let pointed = null; // what the pointer singles out: {chunk} asked for, or {place} of shared memory; else the picked one

  const singled = () => pointed ?? { chunk: (now.rows + now.cell[0]) * ACROSS + now.cell[1] };
  const about = (what) => { pointed = what; frame.light(); };
  const pick = (chunk) => {
    pointed = null;
    const row = Math.floor(chunk / ACROSS), rows = row - (row % BAND);
    if (rows !== now.rows) return put(model, { cell: [row - rows, chunk % ACROSS], rows });
    model.set("cell", [row - rows, chunk % ACROSS]);
    model.save_changes();
    now = state();
    frame.light();
  };
  const ofPlace = (place) => (found.readers.has(found.places[place]) ? { chunk: found.readers.get(found.places[place]) } : { place });

  const labels = [];
  const band = cellGrid({
    label: `${spec.title}: what wgmma read`, rows: BAND, cols: ACROSS,
    before: (row) => (labels[row] = h("span", { class: "tma-address", "aria-hidden": true })),
    onPoint: (at) => about(at === null ? null : { chunk: now.rows * ACROSS + at }),
    onPick: (at) => pick(now.rows * ACROSS + at),
  });
  const all = map("all", (at) => about(at === null ? null : { chunk: at }), pick);
  const shared = map("shared", (at) => about(at === null ? null : ofPlace(at)), (at) => "chunk" in ofPlace(at) && pick(ofPlace(at).chunk));
  const frameOf = h("div", { class: "tma-wgmma-frame" });
  all.node.append(frameOf);

  const point = h("p", { class: "tma-wgmma-about" }), readNote = h("small"), fields = h("div"), product = h("p");
  const addresses = h("div", { class: "tma-wgmma-bytes", "aria-hidden": true }, ...Array.from({ length: LINES / 8 }, (_, i) => h("span", {}, String(8 * LINE_BYTES * i))));
  const ruler = h("div", { class: "tma-row tma-ruler", "aria-hidden": true }, h("span", { class: "tma-address" }, "row"),
    ...Array.from({ length: ACROSS }, (_, i) => h("span", {}, `${8 * i}–${8 * i + 7}`)));
  const swatch = (kind) => h("span", { class: `tma-wgmma-swatch tma-wgmma-${kind}`, "aria-hidden": true });
  const bandKey = h("p", { class: "tma-key" });
  const stage = h("div", { class: "tma-stage tma-wgmma" }, point,
    h("div", { class: "tma-wgmma-row" },
      h("div", { class: "tma-wgmma-left" }, h("p", { class: "tma-head" }, h("b", {}, "Shared memory")),
        h("div", { class: "tma-wgmma-lines" }, addresses, shared.node), h("p", { class: "tma-key" }, "Outlined: read. Dotted: where what was asked for stands.")),
      h("div", { class: "tma-engine" }, h("p", {}, h("b", {}, "wgmma"), h("i", { "aria-hidden": true }, "→")), h("p", {}, "4 descriptors"), fields,
        h("p", {}, "a product of it:"), product),
      h("div", { class: "tma-wgmma-out" }, h("p", { class: "tma-head" }, h("b", {}, "What wgmma read"), " ", readNote),
        h("div", { class: "tma-wgmma-read" },
          h("div", { class: "tma-wgmma-over" }, all.node, h("p", { class: "tma-key" }, "All 64 rows. Filled: right.")),
          h("div", { class: "tma-wgmma-band" }, ruler, band.node,
            bandKey)))));

  function paintBand() {
    labels.forEach((node, row) => setText(node, String(now.rows + row)));
    band.cells.forEach((node, at) => {
      const chunk = now.rows * ACROSS + at, read = found.read[chunk], isWrong = wrong(found, now.view, chunk);
      const faded = now.view === "difference" && !isWrong, other = read !== chunk, byte = byteOf(found, read);
      const coloured = read >= 0 && !faded;
      const main = read < 0 ? "?" : `${Math.floor(read / ACROSS)},${(read % ACROSS) * 8}`;
      const small = isWrong && now.view === "difference" ? `≠ ${found.model[chunk] < 0 ? "?" : `${Math.floor(found.model[chunk] / ACROSS)},${(found.model[chunk] % ACROSS) * 8}`}` : byte === null ? "" : String(byte);
      const look = isWrong ? " tma-wrong" : faded ? " tma-equal" : other ? " tma-wgmma-other" : "";
      setAttribute(node, "class", `tma-cell${look}`);
      setAttribute(node, "style", coloured ? `--tint:var(--tma-c${read % ACROSS})` : null);
      setText(node.firstChild, main);
      setText(node.lastChild, small);
      // A cell's name begins with what is seen in it, so that whoever says what they see is understood.
      setAttribute(node, "aria-label", `${main} ${small}, read for ${short(chunk)}, ${other ? "wrong" : "right"}${isWrong ? ", differs" : ""}`);
    });
  }

  function paintMaps() {
    all.cells.forEach((node, chunk) => {
      const read = found.read[chunk], other = read !== chunk;
      setAttribute(node, "style", other ? null : `--tint:var(--tma-c${read % ACROSS})`);
      setAttribute(node, "class", wrong(found, now.view, chunk) ? "tma-wgmma-differs" : other ? "tma-wgmma-hollow" : null);
    });
    shared.cells.forEach((node, place) => {
      const chunk = found.places[place];
      setAttribute(node, "style", chunk < 0 ? null : `--tint:var(--tma-c${chunk % ACROSS})`);
      setAttribute(node, "class", chunk < 0 ? "tma-wgmma-hollow" : null);
    });
    frameOf.style.setProperty("--at", now.rows);
  }

  // What is lit: the chunk asked for, among the large rows and the small; where it was read, and where it stands.
  function light() {
    const { chunk, place } = singled();
    const hot = (nodes, at, name) => nodes.forEach((node, i) => node.classList.toggle(name, i === at));
    const byte = chunk === undefined ? 16 * place : byteOf(found, found.read[chunk]);
    const stands = chunk === undefined ? null : byteOf(found, chunk);
    hot(band.cells, chunk - now.rows * ACROSS, "tma-hot");
    hot(all.cells, chunk, "tma-wgmma-hot");
    hot(shared.cells, byte === null ? -1 : byte / 16, "tma-wgmma-hot");
    hot(shared.cells, stands === null || stands === byte ? -1 : stands / 16, "tma-wgmma-stands");
    return new Set([chunk]);
  }

  const sentence = () => ("chunk" in singled() ? say(found, now.view, singled().chunk) : sayPlace(found, singled().place));

  function paint() {
    const before = found.key + 64 * spec.choices.rows.indexOf(now.rows);
    now = state();
    found = lookUp(spec, now);
    if (found.key + 64 * spec.choices.rows.indexOf(now.rows) !== before) pointed = null;
    paintBand();
    paintMaps();
    band.setStop(now.cell[0] * ACROSS + now.cell[1]);
    setText(point, sayAbout(found));
    setText(readNote, note(found, now.view, provenance.gpu));
    readNote.classList.toggle("tma-unmeasured", !found.measured && now.view !== "model");
    fields.replaceChildren(...found.descriptor.fields.map(([name, value]) => h("span", {}, `${name} ${value}`)));
    setText(product, sayProduct(found));
    const { cell, swatches } = keyOf(now.view);
    bandKey.replaceChildren(cell, ...swatches.flatMap(([kind, words]) => [" ", swatch(kind), ` ${words}`]));
  }

  const measured = () => (found.tile.line < 0 ? "Model, not measured: there is no recording of this tile." : provenance.lines[found.tile.line]);
  const rowsOf = (first) => [`${first}–${first + BAND - 1}`, `rows ${first} to ${first + BAND - 1}`];
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, cell: spec.cells },
    controls: [
      segments(model, "tile", "Tile in shared memory", spec.choices.tile),
      segments(model, "descriptor", "Descriptor", spec.choices.descriptor),
      slider(model, "rows", "Rows", "Rows drawn large", spec.choices.rows, "", rowsOf),
      segments(model, "view", "View", spec.choices.view),
    ],
    stage, paint, light, sentence, provenance: measured,
    table: () => ({ head: HEAD, rows: tableOf(found, now.rows) }),
    data: () => ({ schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: measured(), table: dataOf(found) }),
  });
  return frame.dispose;
}

export default { render };
