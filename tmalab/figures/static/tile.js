// Figure 1, "One tile through the TMA engine". Every number comes from Python (tile_tables.py): from recorded bytes,
// and from the model. tile_words.js looks them up and puts them into words; here they are drawn.
import { CHANGED, UNTOUCHED, tracks } from "./geometry.js";
import { card, cellGrid, h, segments, setAttribute, setText, slider } from "./kit.js";
import { CHUNK_BYTES, LINE_CHUNKS, byteOf, capital, columnOf, count, held, lineOf, lookUp, nameOf, sayBox, sayShared, slotOf, tableOf } from "./tile_words.js";

const TINTS = 8;

function render({ model, el }) {
  const spec = model.get("spec");
  const provenance = model.get("provenance");
  const { tensor, smem, choices } = spec;
  const state = () => Object.fromEntries([...Object.keys(choices), "cell"].map((one) => [one, model.get(one)]));
  let now = state(), found = lookUp(spec, now);
  let pointed = null; // what the pointer singles out: {index} of the box or {chunk} of shared memory; else the picked one

  const indexOf = (chunk) => found.ids.indexOf(shown()[chunk]);
  const shown = () => (now.view === "model" ? found.model : found.hardware);
  const singled = () => pointed ?? { index: Math.min(now.cell[0], found.area.rows - 1) * found.area.cols + Math.min(now.cell[1], found.area.cols - 1) };
  const boxIndex = (at) => (Math.floor(at / tensor.chunks) - found.area.row) * found.area.cols + (at % tensor.chunks) - found.area.col;

  const about = (what) => { pointed = what; frame.light(); };
  const pick = (index) => {
    pointed = null;
    model.set("cell", [Math.floor(index / found.area.cols), index % found.area.cols]);
    model.save_changes();
    frame.light();
  };
  const ofShared = (chunk) => (indexOf(chunk) >= 0 ? { index: indexOf(chunk) } : { chunk });

  const tensorGrid = cellGrid({
    label: `${spec.title}: global memory`, rows: tensor.rows, cols: tensor.chunks,
    onPoint: (at) => about(at === null ? null : { index: boxIndex(at) }),
    onPick: (at) => pick(boxIndex(at)),
  });
  const lines = Math.max(smem.lines, ...spec.tables.map((text) => {
    const [first, body] = text.split(":");
    return Math.ceil((+first + body.length / 2) / LINE_CHUNKS);
  }));
  const addresses = [], phases = [];
  const label = (list, tag) => (row) => (list[row] = h("span", { class: tag, "aria-hidden": true }));
  const shared = cellGrid({
    label: `${spec.title}: shared memory`, rows: lines, cols: LINE_CHUNKS,
    before: label(addresses, "tma-address"), after: label(phases, "tma-phase"),
    onPoint: (at) => about(at === null ? null : ofShared(at)),
    onPick: (at) => ("index" in ofShared(at) ? pick(indexOf(at)) : about({ chunk: at })),
  });
  const ruler = spec.banks.map((banks) => h("span", {}, banks));
  const sharedNote = h("small"), operands = [h("span"), h("span"), h("span")];
  const engine = h("div", { class: "tma-engine" },
    h("p", {}, h("b", {}, "TMA engine"), h("i", { "aria-hidden": true }, "→")), h("code", {}, "cp.async.bulk", h("wbr"), ".tensor.2d"), ...operands);
  const stage = h("div", { class: "tma-stage tma-tile" },
    h("div", { class: "tma-source" }, h("p", { class: "tma-head" }, h("b", {}, "Global memory"), " ", h("small", {}, tensor.label)), tensorGrid.node,
      h("p", { class: "tma-key" }, "One cell = 16 bytes = 8 elements: its number in its row, below it its byte in shared memory")),
    engine,
    h("div", { class: "tma-shared" }, h("p", { class: "tma-head" }, h("b", {}, "Shared memory"), " ", sharedNote),
      h("div", { class: "tma-row tma-ruler", "aria-hidden": true }, h("span", { class: "tma-address" }, "byte"), ...ruler, h("span", { class: "tma-phase" }, "XOR")),
      shared.node,
      h("p", { class: "tma-key" }, "Above each column its banks; right of each line what is XORed onto its chunks")));

  function cell(node, { kind, tint, main, small, words }) {
    setAttribute(node, "class", `tma-cell${kind ? " tma-" + kind : ""}`);
    setAttribute(node, "style", tint === null ? null : `--tint:var(--tma-c${tint % TINTS})`);
    setText(node.firstChild, main);
    setText(node.lastChild, small);
    setAttribute(node, "aria-label", words);
  }
  const OUTSIDE = { kind: "out", tint: null, main: "", small: "", words: null };

  function paintSource() {
    const { area, unequal } = found;
    tensorGrid.setArea(area);
    tensorGrid.node.style.setProperty("--tracks", tracks(area.col, area.cols, tensor.chunks));
    tensorGrid.cells.forEach((node, at) => {
      const index = node.hasAttribute("role") ? boxIndex(at) : -1;
      if (index < 0) return cell(node, OUTSIDE);
      const id = found.ids[index], [expected] = found.at(found.model, id), seen = found.at(shown(), id);
      const wrong = now.view !== "model" && (unequal.has(expected) || seen.length !== 1);
      const column = columnOf(spec, id), small = seen.length ? String(byteOf(seen[0])) : "diff";
      cell(node, {
        kind: wrong ? "wrong" : now.view === "difference" ? "equal" : "", tint: column, main: String(column), small,
        words: `${capital(nameOf(spec, id))}, ${small}${seen.length ? " bytes into shared memory" : ""}${wrong ? ", differs" : ""}`,
      });
    });
  }

  // A cell's name begins with, or contains, what is seen in it, so that whoever says what they see is understood.
  // The label of a chunk of shared memory: the column of what it holds; of changed bytes, the first one that differs.
  function labelOf(table, chunk) {
    const what = table[chunk], one = found.bytes.get(chunk);
    if (what === CHANGED) return `0x${one.is}`;
    return one ? one.not : what === UNTOUCHED ? smem.background : String(columnOf(spec, what));
  }

  function paintShared() {
    const table = shown();
    shared.cells.forEach((node, chunk) => {
      const what = table[chunk], wrong = now.view !== "model" && found.unequal.has(chunk);
      const tint = what >= 0 ? columnOf(spec, what) : null;
      if (wrong) {
        const main = labelOf(table, chunk), small = now.view === "difference" ? `≠ ${labelOf(found.model, chunk)}` : "diff";
        const [left, said] = [found.hardware, found.model].map((one) => held(spec, found, one, chunk));
        const words = `${main} ${small}, shared byte ${byteOf(chunk)} differs: ${left}; the model says ${said}`;
        cell(node, { kind: "wrong", tint, main, small, words });
      } else if (what === UNTOUCHED) cell(node, { ...OUTSIDE, words: `Shared byte ${byteOf(chunk)}, untouched` });
      else {
        const small = String(byteOf(chunk)), words = `${capital(nameOf(spec, what))}, ${small} bytes into shared memory`;
        cell(node, { kind: now.view === "difference" ? "equal" : "", tint, main: String(tint), small, words });
      }
    });
    addresses.forEach((node, line) => {
      const byte = byteOf(line * LINE_CHUNKS);
      setText(node, (byte === now.base ? "▸" : "") + byte);
    });
    phases.forEach((node, line) => setText(node, found.mode.period === 1 ? "" : String(found.mode.phases[line])));
  }

  function note() {
    if (now.view === "model") return "as the model predicts it";
    if (!found.measured) return "model, not measured";
    if (now.view === "difference") return count(found);
    return found.unequal.size ? count(found) : `as the ${provenance.gpu} left it`;
  }

  // What is lit: the singled-out chunk on both sides, its banks, its line. Returns the lit chunks of shared memory.
  function light() {
    const { index, chunk } = singled();
    const id = found.ids[index];
    const places = index === undefined ? [chunk] : found.at(shown(), id);
    if (index !== undefined && now.view !== "model") places.push(...found.at(found.model, id));
    const hot = new Set(places);
    const toggle = (node, on) => node.classList.toggle("tma-hot", on);
    tensorGrid.cells.forEach((node, at) => toggle(node, node.hasAttribute("role") && boxIndex(at) === index));
    shared.cells.forEach((node, at) => toggle(node, hot.has(at)));
    ruler.forEach((node, slot) => toggle(node, places.some((one) => slotOf(one) === slot)));
    [addresses, phases].forEach((list) => list.forEach((node, line) => toggle(node, places.some((one) => lineOf(one) === line))));
    return hot;
  }

  function measured() {
    if (!found.measured) return "Model, not measured: there is no recording of this state.";
    return provenance.lines[provenance.of ? provenance.of[found.number] : 0];
  }

  function sentence() {
    const { index, chunk } = singled();
    return index === undefined ? sayShared(spec, found, chunk) : sayBox(spec, now, found, index, now.view, provenance.gpu);
  }

  function paint() {
    const before = found.number;
    now = state();
    found = lookUp(spec, now);
    if (found.number !== before) pointed = null;
    paintSource();
    paintShared();
    const { index } = singled();
    tensorGrid.setStop((found.area.row + Math.floor(index / found.area.cols)) * tensor.chunks + found.area.col + (index % found.area.cols));
    shared.setStop(found.at(shown(), found.ids[index])[0] ?? now.base / CHUNK_BYTES);
    setText(sharedNote, note());
    sharedNote.classList.toggle("tma-unmeasured", !found.measured && now.view !== "model");
    operands.forEach((node, i) => setText(node, [`coords {${now.col}, ${now.row}}`, `box {${found.mode.box.join(", ")}}`, `${found.mode.bytes} bytes`][i]));
  }

  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...choices, cell: spec.cells },
    controls: [
      segments(model, "swizzle", "Swizzle", choices.swizzle),
      segments(model, "row", "Row offset", choices.row),
      segments(model, "col", "Column offset", choices.col),
      slider(model, "base", "Base", "Shared base address", choices.base, "bytes"),
      segments(model, "view", "View", choices.view),
    ],
    stage, paint, light, sentence,
    provenance: measured,
    data: () => ({ schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: measured(), table: tableOf(spec, found) }),
    table: () => ({
      head: ["Shared byte", "Banks", "The hardware left", "The model says", "Equal"],
      rows: found.compared.map((chunk) => ({
        key: chunk,
        cells: [
          String(byteOf(chunk)), spec.banks[slotOf(chunk)], found.measured ? held(spec, found, found.hardware, chunk) : "not measured",
          held(spec, found, found.model, chunk), found.measured ? (found.unequal.has(chunk) ? "differs" : "equal") : "–",
        ],
      })),
    }),
  });
  return frame.dispose;
}

export default { render };
