// "One tile, many front ends": a front end is chosen, its dump is drawn as the tile, its descriptor beside what was asked
// and what the driver writes, its PTX below. Everything comes from Python (front_ends_tables.py).
import { card, cellGrid, h, put, segments, setAttribute, setText } from "./kit.js";
import { HEAD, LINE_BYTES, LINE_CHUNKS, besideOf, chipOf, dataOf, labelsOf, lookUp, marksOf, nameOf, sentence, tableOf } from "./front_ends_words.js";

const NAMES = ["view", "way", "cell"];
const NOTES = { hardware: "as the front end's kernel left it", model: "as the model predicts it", difference: "what is not as the model says" };
const COLUMNS = ["field", "asked", "this descriptor", "the driver's own"];

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  let now = state(), found = lookUp(spec, provenance, now), pointed = null;
  const chosen = () => now.cell[0] * LINE_CHUNKS + now.cell[1];

  // The ways as radio buttons, each with its verdict.
  const inputs = spec.ways.map(({ name }) => h("input", { type: "radio", name: "way", value: name, onchange: () => put(model, { way: name }) }));
  const chooser = h("fieldset", { class: "tma-field tma-ways" }, h("legend", {}, "Front end"),
    h("div", {}, ...spec.ways.map((way, i) => h("label", { class: way.refused || way.differ || way.unlike?.length ? "tma-odd" : null }, inputs[i],
      h("span", {}, h("b", {}, way.name), " ", h("small", {}, chipOf(way)))))));
  const ways = { node: chooser, paint: () => inputs.forEach((input) => (input.checked = input.value === model.get("way"))) };

  const heading = h("b"), note = h("small"), addresses = [];
  const grid = cellGrid({
    label: `${spec.title}: shared memory`, rows: spec.lines, cols: LINE_CHUNKS,
    before: (line) => (addresses[line] = h("span", { class: "tma-address", "aria-hidden": true }, String(line * LINE_BYTES))),
    onPoint: (at) => { pointed = at; frame.light(); },
    onPick: (at) => { pointed = null; model.set("cell", [Math.floor(at / LINE_CHUNKS), at % LINE_CHUNKS]); model.save_changes(); frame.light(); },
  });
  const refusal = h("div", { class: "tma-refusal" });
  const key = h("p", { class: "tma-key" }, "A cell is 16 bytes: its chunk of the row, then the row of the box");
  const fields = h("tbody"), beside = h("p", { class: "tma-key" });
  const table = h("table", { class: "tma-fields" }, h("thead", {}, h("tr", {}, ...COLUMNS.map((word) => h("th", { scope: "col" }, word)))), fields);
  const ptxHead = h("p", { class: "tma-head" }, h("b", {}, "PTX"), " ", h("small", {}, "its lines that move the tile or wait for it"));
  const ptx = h("ol", { class: "tma-ptx", tabindex: 0, "aria-label": "PTX" }), ptxBox = h("div", {}, ptxHead, ptx);
  const stage = h("div", { class: "tma-stage tma-front" },
    h("div", { class: "tma-front-shared" }, h("p", { class: "tma-head" }, heading, " ", note), grid.node, refusal, key),
    h("div", { class: "tma-front-map" }, h("p", { class: "tma-head" }, h("b", {}, "Descriptor"), " ", h("small", {}, "its 128 bytes, decoded")),
      h("div", { class: "tma-scroll" }, table), beside, ptxBox));

  function paint() {
    now = state();
    found = lookUp(spec, provenance, now);
    const { told, one, empty } = found;
    setText(heading, `${told.name}: shared memory`);
    setText(note, empty ? "" : !found.loaded && now.view !== "model" ? "model, not measured" : NOTES[now.view]);
    grid.node.hidden = key.hidden = empty;
    refusal.hidden = !empty;
    refusal.replaceChildren(...(empty ? [h("b", {}, told.refused.type), h("pre", { tabindex: 0, "aria-label": "what it raised" }, told.refused.message)] : []));
    grid.cells.forEach((cell, chunk) => {
      const what = found.shown[chunk], wrong = now.view !== "model" && found.unequal.has(chunk);
      const faded = now.view === "difference" && !wrong, [main, small] = labelsOf(found, now.view, chunk);
      setAttribute(cell, "class", `tma-cell${wrong ? " tma-wrong" : faded ? " tma-equal" : ""}`);
      setAttribute(cell, "style", faded || what < 0 ? null : `--tint:var(--tma-c${what % LINE_CHUNKS})`);
      setText(cell.firstChild, main);
      setText(cell.lastChild, small);
      setAttribute(cell, "aria-label", `${main} ${small}, ${nameOf(spec, what)}${wrong ? ", differs" : ""}`);
    });
    grid.setStop(chosen());
    const marks = marksOf(told);
    fields.replaceChildren(...told.fields.map(([field, ...texts], i) => h("tr", { class: marks[i] ? `tma-${marks[i]}-field` : null },
      h("th", { scope: "row" }, field), ...texts.map((text, column) => h("td", {}, (marks[i] === "wrong" && column === 2 ? "≠ " : marks[i] === "own" && column === 1 ? "→ " : "") + text)))));
    setText(beside, told.unlike === null ? "No descriptor was captured."
      : `Beside the driver's own 128 bytes for the same map: ${besideOf(told)}.${marks.includes("own") ? " → is the front end's own choice." : ""}`);
    ptxBox.hidden = !one || !one.ptx.length;
    ptx.replaceChildren(...(one ? one.ptx : []).map((line) => h("li", { class: line.includes("cp.async.bulk.tensor") ? "tma-copy" : null }, h("code", {}, line))));
    const copy = ptx.querySelector(".tma-copy");
    if (copy) ptx.scrollTop = copy.offsetTop - ptx.clientHeight / 2;
  }

  function light() {
    const hot = pointed ?? chosen();
    grid.cells.forEach((cell, at) => cell.classList.toggle("tma-hot", at === hot));
    addresses.forEach((node, line) => node.classList.toggle("tma-hot", line === Math.floor(hot / LINE_CHUNKS)));
    return new Set([spec.ways.indexOf(found.told)]);
  }

  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, cell: Array.from({ length: spec.lines * LINE_CHUNKS }, (_, at) => [Math.floor(at / LINE_CHUNKS), at % LINE_CHUNKS]) },
    controls: [segments(model, "view", "Shown", spec.choices.view), ways],
    stage, paint, light, sentence: () => sentence(spec, found, now, pointed ?? chosen()), provenance: () => found.source,
    table: () => ({ head: HEAD, rows: tableOf(spec, provenance) }),
    data: () => ({ schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: found.source, ...dataOf(found) }),
  });
  return frame.dispose;
}

export default { render };
