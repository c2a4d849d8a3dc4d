// "Many atoms in one copy". Every number comes from Python (atoms_tables.py, atoms_fields.py): from recorded bytes, from
// the driver's verdicts, and from the model. atoms_words.js looks them up and puts them into words; here they are drawn.
import { UNTOUCHED, tracks } from "./geometry.js";
import { card, cellGrid, h, segments, setAttribute, setText } from "./kit.js";
import { LINE_CHUNKS, atomNumber, atomOf, byteOf, count, groupOf, held, keyOf, lookUp, nameOf, sayBoth, sayChunk, sayPlace, sayRefused, tableOf } from "./atoms_words.js";

const TINTS = 8;
const ATOM_ROWS = 8;

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const { matrix, choices } = spec, across = matrix.slice;
  const state = () => Object.fromEntries([...Object.keys(choices), "cell"].map((one) => [one, model.get(one)]));
  let now = state(), found = lookUp(spec, now), drawn = null;
  let pointed = null; // what the pointer singles out: {number} of the slice or {place} of shared memory; else the picked one
  let shared = null, frames = { source: [], shared: [] }, addresses = [];

  const singled = () => pointed ?? { number: now.cell[0] * across + now.cell[1] };
  const numberAt = (at) => Math.floor(at / matrix.chunks) * across + (at % matrix.chunks) - now.col / 8;
  const ofPlace = (place) => (found.shown[place] >= 0 ? { number: found.shown[place] } : { place });
  const about = (what) => { pointed = what; frame.light(); };
  const pick = (what) => {
    if (!("number" in what)) return about(what);
    pointed = null;
    model.set("cell", [Math.floor(what.number / across), what.number % across]);
    model.save_changes();
    frame.light();
  };

  // --- what stands from the start: the matrix, the engine, the two maps ---------------------------------------------
  const label = (text) => h("span", { class: "tma-address", "aria-hidden": true }, text);
  const source = cellGrid({
    label: `${spec.title}: global memory`, rows: matrix.rows, cols: matrix.chunks, before: (row) => label(String(row)),
    onPoint: (at) => about(at === null ? null : { number: numberAt(at) }), onPick: (at) => pick({ number: numberAt(at) }),
  });
  const over = h("div", { class: "tma-atoms-over", "aria-hidden": true }), names = h("div", { class: "tma-atoms-names", "aria-hidden": true });
  const marked = h("small"), sourceKey = h("p", { class: "tma-key" });
  const note = h("small"), place = h("div", { class: "tma-atoms-shared" });
  const instruction = h("code"), operands = h("span"), told = h("p", { class: "tma-atoms-told" });
  const engine = h("div", { class: "tma-atoms-engine" }, h("b", {}, "TMA engine"), " ", instruction, " ", operands);
  const columns = choices.copies.map(() => h("th", { scope: "col" }));
  const values = spec.fields.map(() => choices.copies.map(() => h("td")));
  const maps = h("table", { class: "tma-atoms-maps" },
    h("thead", {}, h("tr", {}, h("td", {}, "field"), ...columns)),
    h("tbody", {}, ...spec.fields.map((name, i) => h("tr", {}, h("th", { scope: "row" }, name), ...values[i]))));
  const stage = h("div", { class: "tma-stage tma-atoms" }, engine,
    h("div", { class: "tma-atoms-source" }, h("p", { class: "tma-head" }, h("b", {}, "Global memory"), " ", marked),
      names, h("div", { class: "tma-atoms-framed" }, source.node, over),
      sourceKey),
    h("div", { class: "tma-atoms-side" }, h("p", { class: "tma-head" }, h("b", {}, "Shared memory"), " ", note), place),
    h("div", { class: "tma-atoms-two" }, maps, told));

  // --- what a view changes: frames, and a grid as long as the box -----------------------------------------------------
  // A frame is an atom on both sides; without a swizzle there is none, and it is a group.
  function lay() {
    const { groups, width, atom } = found.one, first = now.col / 8;
    const tall = atom ? ATOM_ROWS : matrix.rows;
    source.setArea({ row: 0, col: first, rows: matrix.rows, cols: across });
    stage.style.setProperty("--tracks", tracks(first, across, matrix.chunks));
    const column = (group) => `${2 + first + group * width} / span ${width}`;
    names.replaceChildren(...Array.from({ length: groups }, (_, group) => h("span", { style: `grid-column:${column(group)}` }, `g${group}`)));
    frames = { source: [], shared: [] };
    for (let group = 0; group < groups; group++) {
      for (let row = 0; row < matrix.rows; row += tall) {
        frames.source.push(h("div", { class: "tma-atoms-frame", style: `grid-column:${column(group)};grid-row:${row + 1} / span ${tall}` }));
      }
    }
    over.replaceChildren(...frames.source);
    if (found.refused) return layRefused();
    layShared();
  }

  function layRefused() {
    shared = null;
    const broken = found.refused.broken.map((one) => h("p", {}, h("b", {}, `✗ ${one.field}`), ` ${one.message} ${one.fix}`));
    place.replaceChildren(h("div", { class: "tma-atoms-refused" }, h("p", {}, "No descriptor, no copy. The rule that it breaks:"), ...broken));
    stage.classList.remove("tma-atoms-long");
  }

  function layShared() {
    const { lines, groups, atom } = found.one, perGroup = lines / groups, perAtom = atom ? atom / 128 : perGroup;
    const panels = { wide: lines > 32 ? 4 : 2, narrow: 2 };
    addresses = [];
    shared = cellGrid({
      label: `${spec.title}: shared memory`, rows: lines, cols: LINE_CHUNKS,
      before: (line) => (addresses[line] = label(String(byteOf(line * LINE_CHUNKS)))),
      after: (line) => h("span", { class: "tma-atoms-group", "aria-hidden": true }, line % perGroup ? "" : `g${line / perGroup}`),
      onPoint: (at) => about(at === null ? null : ofPlace(at)), onPick: (at) => pick(ofPlace(at)),
    });
    // Where a frame stands depends on how many panels there are beside each other: told for both.
    const spot = (line, count) => [Math.floor(line / (lines / count)) + 1, (line % (lines / count)) + 1];
    for (let line = 0; line < lines; line += perAtom) {
      const [wide, narrow] = [spot(line, panels.wide), spot(line, panels.narrow)];
      const style = `--wide:${wide[0]};--wide-row:${wide[1]};--narrow:${narrow[0]};--narrow-row:${narrow[1]};--span:${perAtom}`;
      frames.shared.push(h("div", { class: "tma-atoms-frame", style }));
    }
    const ruler = () => h("div", { class: "tma-row tma-ruler", "aria-hidden": true }, label("byte"), ...Array.from({ length: LINE_CHUNKS }, (_, slot) => h("span", { "data-slot": slot }, String(slot))), h("span"));
    const framed = atom ? `${found.one.atoms} atoms of 8 rows × ${atom / ATOM_ROWS} bytes, framed.` : "No swizzle, no atoms: the groups are framed.";
    const key = `${framed} ${found.one.pitch > 16 * found.one.width ? "Empty: padding, never written" : "Above: the place in the line"}`;
    place.replaceChildren(
      h("div", { class: "tma-atoms-rulers" }, ...Array.from({ length: panels.wide }, ruler)),
      h("div", { class: "tma-atoms-framed" }, shared.node, h("div", { class: "tma-atoms-over", "aria-hidden": true }, ...frames.shared)),
      h("p", { class: "tma-key" }, key));
    for (const [name, count] of Object.entries(panels)) {
      place.style.setProperty(`--${name}-panels`, count);
      place.style.setProperty(`--${name}-lines`, lines / count);
    }
    stage.classList.toggle("tma-atoms-long", panels.wide === 4);
  }

  // --- painting -------------------------------------------------------------------------------------------------------
  function cell(node, { kind = "", number = -1, main, small = "", words }) {
    setAttribute(node, "class", `tma-cell${kind ? " tma-" + kind : ""}`);
    setAttribute(node, "style", number < 0 ? null : `--tint:var(--tma-c${number % TINTS})`);
    setText(node.firstChild, main);
    setText(node.lastChild, small);
    setAttribute(node, "aria-label", words);
  }
  const mark = (what) => (what >= 0 ? String(what % TINTS) : spec.background);

  function paintSource() {
    source.cells.forEach((node, at) => {
      if (!node.hasAttribute("role")) return cell(node, { kind: "out", main: "", words: null });
      const number = numberAt(at), main = mark(number), words = `${main}, ${nameOf(found, number)}`;
      if (found.refused) return cell(node, { number, main, words: `${words}, not copied` });
      const target = found.target.get(number), wrong = now.view !== "model" && found.unequal.has(target);
      const kind = wrong ? "wrong" : now.view === "difference" ? "equal" : "";
      cell(node, { kind, number, main, words: `${words}, shared byte ${byteOf(target)}${wrong ? ", differs" : ""}` });
    });
  }

  function paintShared() {
    const { model: said, hardware, shown, unequal } = found;
    shared.cells.forEach((node, at) => {
      const what = shown[at], here = `shared byte ${byteOf(at)}, g${groupOf(found, at)}, ${atomOf(found, at)}`;
      if (now.view !== "model" && unequal.has(at)) {
        const changed = found.changed.get(at), main = changed ? changed.is : mark(what);
        const small = now.view === "difference" ? `≠${changed ? changed.not : mark(said[at])}` : "";
        const words = `${main} ${small}, ${here}, differs: ${held(found, hardware, at)}; the model says ${held(found, said, at)}`;
        return cell(node, { kind: "wrong", number: what, main, small, words });
      }
      if (what === UNTOUCHED) return cell(node, { kind: "out", main: "", words: `${here}, padding` });
      cell(node, { kind: now.view === "difference" ? "equal" : "", number: what, main: mark(what), words: `${mark(what)}, ${nameOf(found, what)}, ${here}` });
    });
  }

  function paintMaps() {
    const chosen = choices.copies.indexOf(now.copies), box = spec.fields.indexOf("box_dim");
    const ways = ["3-D, one copy", `2-D, ${found.one.groups} ${found.one.groups === 1 ? "copy" : "copies"}`];
    columns.forEach((node, way) => setText(node, ways[way]));
    [columns, ...values].forEach((row) => row.forEach((node, way) => node.classList.toggle("tma-atoms-chosen", way === chosen)));
    values.forEach((row, field) => row.forEach((node, way) => {
      const wrong = found.refused && field === box;
      setText(node, (wrong ? "✗ " : "") + found.fields[field][way]);
      node.classList.toggle("tma-wrong", Boolean(wrong));
    }));
    setText(told, `Both maps begin at the same address. ${found.refused ? sayBoth(found) : found.verdict}`);
    const [coords, counted] = ["coords", "bytes counted"].map((name) => found.fields[spec.fields.indexOf(name)][chosen]);
    setText(instruction, `${chosen && found.one.groups > 1 ? found.one.groups + " × " : ""}cp.async.bulk.tensor.${chosen ? 2 : 3}d`);
    setText(operands, `coords ${coords} · box ${found.fields[box][chosen]} · ${found.refused ? "refused" : counted + " bytes"}`);
  }

  function noteOf() {
    if (found.refused) return found.measured ? "no copy" : "model, not measured";
    if (now.view === "model") return "as the model predicts it";
    if (!found.measured) return "model, not measured";
    return now.view === "difference" || found.unequal.size ? count(found) : `as the ${provenance.gpu} left it`;
  }

  // What is lit: the chunk on both sides, its atom, its line and its place. Returns the lit places.
  function light() {
    const { number, place: alone } = singled();
    const toggle = (nodes, on) => nodes.forEach((node, at) => node.classList.toggle("tma-hot", on(at)));
    toggle(source.cells, (at) => source.cells[at].hasAttribute("role") && numberAt(at) === number);
    if (found.refused) {
      toggle(frames.source, () => false);
      return new Set();
    }
    const hot = new Set(alone !== undefined ? [alone] : [found.target.get(number)]);
    if (alone === undefined) found.shown.forEach((what, at) => what === number && hot.add(at));
    const lines = new Set([...hot].map((at) => Math.floor(at / LINE_CHUNKS))), slots = new Set([...hot].map((at) => at % LINE_CHUNKS));
    const atoms = new Set([...hot].map((at) => atomNumber(found, at)));
    toggle(shared.cells, (at) => hot.has(at));
    toggle(addresses, (line) => lines.has(line));
    toggle(frames.source, (atom) => atoms.has(atom));
    toggle(frames.shared, (atom) => atoms.has(atom));
    place.querySelectorAll("[data-slot]").forEach((node) => node.classList.toggle("tma-hot", slots.has(+node.dataset.slot)));
    return hot;
  }

  function sentence() {
    if (found.refused) return sayRefused(found);
    const { number, place: alone } = singled();
    return number === undefined ? sayPlace(spec, found, alone) : sayChunk(found, number);
  }

  function paint() {
    now = state();
    found = lookUp(spec, now);
    const look = `${found.number} ${now.col}`;
    if (drawn !== look) {
      drawn = look;
      pointed = null;
      lay();
    }
    paintSource();
    if (shared) paintShared();
    paintMaps();
    const { number } = singled();
    if (number !== undefined) {
      source.setStop(Math.floor(number / across) * matrix.chunks + now.col / 8 + (number % across));
      shared?.setStop(found.target.get(number));
    }
    const bare = now.view === "difference" && !found.refused; // colour is left to what differs
    setText(marked, `${matrix.label}, the slice ${bare ? "framed" : "in colour"}`);
    setText(sourceKey, keyOf(bare));
    setText(note, noteOf());
    note.classList.toggle("tma-unmeasured", !found.measured && now.view !== "model");
  }

  const measured = () => (found.line < 0 ? "Model, not measured: there is no recording of this state." : provenance.lines[found.line]);
  const plain = ({ head, rows }) => rows.map(({ cells }) => Object.fromEntries(head.map((name, i) => [name, cells[i]])));
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...choices, cell: spec.cells },
    controls: [
      segments(model, "swizzle", "Swizzle", choices.swizzle),
      segments(model, "group", "Group, bytes", choices.group),
      segments(model, "col", "Column offset", choices.col),
      segments(model, "copies", "Copies", choices.copies),
      segments(model, "view", "View", choices.view),
    ],
    stage, paint, light, sentence, provenance: measured, table: () => tableOf(found),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: measured(),
      maps: Object.fromEntries(spec.fields.map((name, i) => [name, found.fields[i]])), table: plain(tableOf(found)),
    }),
  });
  return frame.dispose;
}

export default { render };
