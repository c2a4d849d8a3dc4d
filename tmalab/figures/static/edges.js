// "At the edges". Every label and every sentence comes from Python (edges_tables.py): from recorded bytes, and from the
// model. Here one experiment's two memories are drawn, and what the pointer or the focus singles out is looked up.
import { card, cellGrid, h, put, segments, setAttribute, setText } from "./kit.js";

const TINTS = 8;

// One state: the written memory seen and predicted, and where the two differ.
export function readEdges(spec, state) {
  const one = spec.experiments[spec.choices.experiment.indexOf(state.experiment)];
  const isLoad = one.direction === "load", measured = one.hardware !== null;
  const hardware = measured ? one.hardware : one.model;
  const cells = one.model.flatMap((bits, cell) => (bits ? [cell] : []));
  const unequal = new Set(cells.filter((cell) => hardware[cell] !== one.model[cell]));
  const target = isLoad ? one.shared_cells : one.memory_cells, across = target.length / one.shared[3];
  return { one, isLoad, measured, hardware, cells, unequal, target, across, shown: state.view === "model" ? one.model : hardware };
}

const said = (found, bits) => found.one.labels[bits][2];

export function count(found) {
  const some = found.unequal.size, hidden = found.one.elsewhere;
  return `${some} of ${found.cells.length} elements ${some === 1 ? "differs" : "differ"}${hidden ? `, and ${hidden} ${hidden === 1 ? "byte that is" : "bytes that are"} not drawn` : ""}`;
}

export function verdict(found, view, cell) {
  if (view === "model") return "";
  if (!found.measured) return " Model, not measured.";
  if (!found.unequal.has(cell)) return " Measured: so it is.";
  return ` Measured: ${said(found, found.hardware[cell])}, where the model says ${said(found, found.one.model[cell])}.`;
}

// A cell that is no element of the box's: where it is and what it holds.
export function sayOther(found, view, cell, inShared) {
  const { one, isLoad } = found, written = inShared === isLoad;
  const bits = (written ? found.shown : one.given)[cell], wrong = written && found.unequal.has(cell);
  const [left, top, width] = one.window;
  const place = inShared ? `Shared byte ${one.shared[0] + cell * one.bytes}` : `Row ${top + Math.floor(cell / width)}, column ${left + (cell % width)}`;
  const holds = !bits ? "no memory has this place" : inShared ? said(found, bits) : `${said(found, bits)}, not in the box`;
  return `${place}: ${holds}.${wrong ? verdict(found, view, cell) : ""}`;
}

function deed(found, number) {
  const kind = found.one.kinds[number];
  if (found.isLoad) return kind === "in" ? "copied" : "filled";
  const done = found.one.direction === "store" ? "written" : "combined";
  return { in: done, clip: `${done}, past the tensor`, out: "not written" }[kind];
}

const HEAD = ["Box row, column", "Tensor row, column", "What happens", "The hardware left", "The model says", "Equal"];
export function tableOf(found) {
  const { one } = found, [left, top, width] = one.window;
  const compared = (cell) => {
    const model = said(found, one.model[cell]);
    return found.measured ? [said(found, found.hardware[cell]), model, found.unequal.has(cell) ? "differs" : "equal"] : ["not measured", model, "–"];
  };
  const mine = found.target.map((cell, number) => ({
    key: cell,
    cells: [`${Math.floor(number / found.across)}, ${number % found.across}`, `${one.coords[number][1]}, ${one.coords[number][0]}`, deed(found, number), ...compared(cell)],
  }));
  const others = [...found.unequal].filter((cell) => !found.target.includes(cell)).map((cell) => ({
    key: cell,
    cells: ["–", found.isLoad ? `shared byte ${one.shared[0] + cell * one.bytes}` : `${top + Math.floor(cell / width)}, ${left + (cell % width)}`, "–", ...compared(cell)],
  }));
  return [...mine, ...others];
}

function chooser(model, name, legend, experiments) {
  const groups = new Map(experiments.map((one) => [one.group, experiments.filter((other) => other.group === one.group)]));
  const list = h("select", { onchange: () => put(model, { [name]: list.value }) },
    ...[...groups].map(([group, ones]) => h("optgroup", { label: group }, ...ones.map((one) => h("option", { value: one.name }, one.label)))));
  const node = h("label", { class: "tma-field tma-edge-choice" }, h("span", { class: "tma-legend" }, legend), list);
  return { node, paint: () => (list.value = model.get(name)) };
}

function render({ model, el }) {
  const spec = model.get("spec");
  const provenance = model.get("provenance");
  const state = () => Object.fromEntries(["experiment", "view", "cell"].map((one) => [one, model.get(one)]));
  let now = state(), found = readEdges(spec, now), drawn = null;
  let pointed = null; // what the pointer singles out: {number} of the box, {memory} or {shared} cell; else the picked one
  let memory, shared, numbers;

  const singled = () => pointed ?? { number: Math.min(now.cell[0], found.one.shared[3] - 1) * found.across + Math.min(now.cell[1], found.across - 1) };
  const at = (side, cell) => (numbers[side].has(cell) ? { number: numbers[side].get(cell) } : { [side]: cell });
  const about = (what) => { pointed = what; frame.light(); };
  const pick = (side, cell) => {
    const what = at(side, cell);
    if (!("number" in what)) return about(what);
    pointed = null;
    model.set("cell", [Math.floor(what.number / found.across), what.number % found.across]);
    model.save_changes();
    frame.light();
  };

  const point = h("p", { class: "tma-edge-point" }), notes = { memory: h("small"), shared: h("small") };
  const places = { memory: h("div", { class: "tma-edge-memory" }), shared: h("div", { class: "tma-edge-memory" }) };
  const arrow = h("i", { "aria-hidden": true }), instruction = h("code"), operands = h("div");
  const engine = h("div", { class: "tma-engine" }, h("p", {}, h("b", {}, "TMA engine"), arrow), instruction, operands);
  const swatch = (kind) => h("span", { class: `tma-edge-swatch tma-edge-${kind}`, "aria-hidden": true });
  const key = h("p", { class: "tma-key" }, swatch("tensor"), " the tensor ", swatch("box"), " the box. Colours tell rows apart.");
  const side = (name, title, ...more) => h("div", { class: "tma-edge-side" }, h("p", { class: "tma-head" }, h("b", {}, title), " ", notes[name]), places[name], ...more);
  const stage = h("div", { class: "tma-stage tma-edges" }, point, h("div", { class: "tma-edges-row" }, side("memory", "Global memory", key), engine, side("shared", "Shared memory")));

  // The grids have the size of their experiment: they are made anew when another one is chosen.
  function lay() {
    const { one } = found, [left, top, cols, rows] = one.window, [first, , sharedCols, sharedRows] = one.shared;
    numbers = { memory: new Map(one.memory_cells.map((cell, number) => [cell, number])), shared: new Map(one.shared_cells.map((cell, number) => [cell, number])) };
    const label = (text) => h("span", { class: "tma-address", "aria-hidden": true }, text);
    const grid = (name, title, rows, cols, words) => cellGrid({
      label: `${spec.title}: ${title}`, rows, cols, before: (row) => label(words(row)),
      onPoint: (cell) => about(cell === null ? null : at(name, cell)), onPick: (cell) => pick(name, cell),
    });
    memory = grid("memory", "global memory", rows, cols, (row) => String(top + row));
    shared = grid("shared", "shared memory", sharedRows, sharedCols, (row) => String(first + row * sharedCols * one.bytes));
    const frameOf = ([x, y, width, height], kind) => h("div", {
      class: `tma-edge-frame tma-edge-${kind}`, "aria-hidden": true, style: `--x:${x - left};--y:${y - top};--w:${width};--h:${height}`,
    });
    const ruler = (head, names) => h("div", { class: "tma-row tma-ruler", "aria-hidden": true }, label(head), ...names.map((name) => h("span", {}, name)));
    const span = (from, count) => Array.from({ length: count }, (_, i) => String(from + i));
    places.memory.replaceChildren(ruler("row", span(left, cols)), h("div", { class: "tma-edge-framed" }, memory.node, frameOf(one.tensor, "tensor"), frameOf(one.box, "box")));
    places.shared.replaceChildren(ruler("byte", span(0, sharedCols)), shared.node);
    places.memory.style.setProperty("--cols", cols);
    places.shared.style.setProperty("--cols", sharedCols);
    stage.lastChild.style.setProperty("--split", `minmax(0, ${cols + 1.5}fr) 8.8rem minmax(0, ${sharedCols + 1.5}fr)`);
    stage.classList.toggle("tma-long", cols + sharedCols > 28);
    setText(point, one.about);
    setText(arrow, found.isLoad ? "→" : "←");
    instruction.replaceChildren(one.direction === "reduce" ? "cp.reduce.async" : "cp.async", h("wbr"), ".bulk.tensor");
    operands.replaceChildren(...one.engine.map((word) => h("span", {}, word)));
  }

  // A cell of either memory: coloured where bytes of it are moved, outlined where the box reaches and nothing is.
  function paintGrid(name, grid) {
    const { one } = found, written = (name === "shared") === found.isLoad;
    const bits = written ? found.shown : one.given;
    const [tensorLeft, tensorTop, tensorWidth, tensorHeight] = one.tensor, [left, top, cols] = one.window;
    grid.cells.forEach((node, cell) => {
      const number = numbers[name].get(cell), kind = number === undefined ? "" : one.kinds[number];
      const wrong = written && now.view !== "model" && found.unequal.has(cell);
      const faded = written && now.view === "difference" && !wrong && bits[cell];
      const moved = (kind === "in" || kind === "clip") && !faded;
      const x = left + (cell % cols) - tensorLeft, y = top + Math.floor(cell / cols) - tensorTop;
      const inside = name === "shared" || (x >= 0 && x < tensorWidth && y >= 0 && y < tensorHeight);
      const look = wrong ? "wrong" : moved ? "" : faded ? "equal" : kind === "out" ? "edge-fill" : inside ? "out" : "edge-beyond";
      const row = kind && (found.isLoad ? one.coords[number][1] : Math.floor(number / found.across));
      setAttribute(node, "class", `tma-cell${look ? " tma-" + look : ""}`);
      setAttribute(node, "style", moved ? `--tint:var(--tma-c${row % TINTS})` : null);
      const [main, small, words] = bits[cell] ? one.labels[bits[cell]] : ["", "", "no memory"];
      const seen = wrong && !main ? spec.background : main;
      const below = wrong && now.view === "difference" ? `≠ ${one.labels[one.model[cell]][0] || spec.background}` : small;
      setText(node.firstChild, seen);
      setText(node.lastChild, below);
      node.classList.toggle("tma-edge-two", below !== "" && below === small);
      // A cell's name begins with what is seen in it, so that whoever says what they see is understood.
      const more = [seen ? "" : words, words.startsWith("NaN") ? "NaN" : "", sayPlace(name, cell), kind ? deed(found, number) : "", wrong ? "differs" : ""];
      setAttribute(node, "aria-label", [`${seen} ${below}`.trim(), ...more].filter(Boolean).join(", "));
    });
  }
  function sayPlace(name, cell) {
    const { one } = found, [left, top, cols] = one.window;
    return name === "shared" ? `shared byte ${one.shared[0] + cell * one.bytes}` : `row ${top + Math.floor(cell / cols)}, column ${left + (cell % cols)}`;
  }

  function note() {
    if (now.view === "model") return "as the model predicts it";
    if (!found.measured) return "model, not measured";
    return now.view === "difference" || found.unequal.size || found.one.elsewhere ? count(found) : `as the ${provenance.gpu} left it`;
  }

  function light() {
    const { number, memory: inMemory, shared: inShared } = singled();
    const hot = { memory: number === undefined ? inMemory : found.one.memory_cells[number], shared: number === undefined ? inShared : found.one.shared_cells[number] };
    memory.cells.forEach((node, cell) => node.classList.toggle("tma-hot", cell === hot.memory));
    shared.cells.forEach((node, cell) => node.classList.toggle("tma-hot", cell === hot.shared));
    return new Set([found.isLoad ? hot.shared : hot.memory]);
  }

  function sentence() {
    const { number, memory: inMemory, shared: inShared } = singled();
    if (number !== undefined) return found.one.words[number] + verdict(found, now.view, found.target[number]);
    return sayOther(found, now.view, inShared ?? inMemory, inShared !== undefined);
  }

  function paint() {
    now = state();
    found = readEdges(spec, now);
    if (drawn !== now.experiment) {
      drawn = now.experiment;
      pointed = null;
      lay();
    }
    paintGrid("memory", memory);
    paintGrid("shared", shared);
    const { number } = singled();
    memory.setStop(found.one.memory_cells[number] ?? 0);
    shared.setStop(found.one.shared_cells[number] ?? 0);
    const [written, read] = found.isLoad ? ["shared", "memory"] : ["memory", "shared"];
    setText(notes[written], written === "memory" ? `${found.one.dtype}, ${note()}` : note());
    setText(notes[read], read === "memory" ? found.one.dtype : "what the engine read");
    notes[written].classList.toggle("tma-unmeasured", !found.measured && now.view !== "model");
    notes[read].classList.remove("tma-unmeasured");
  }

  const measured = () => (found.one.line < 0 ? "Model, not measured: there is no recording of this experiment." : provenance.lines[found.one.line]);
  const table = () => ({ head: HEAD, rows: tableOf(found) });
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, cell: spec.cells },
    controls: [chooser(model, "experiment", "Experiment", spec.experiments), segments(model, "view", "View", spec.choices.view)],
    stage, paint, light, sentence, table, provenance: measured,
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: measured(),
      table: tableOf(found).map(({ key, cells }) => ({
        ...Object.fromEntries(HEAD.map((head, i) => [head, cells[i]])), bits: found.measured ? found.hardware[key] : null, model_bits: found.one.model[key],
      })),
    }),
  });
  return frame.dispose;
}

export default { render };
