// "The ladder": a bar a rung, cuBLAS of the same run as a mark on it; the chosen rung's stalls as lanes below. Every number
// comes from Python (ladder_tables.py).
import { card, h, put, segments, setAttribute, setText } from "./kit.js";
import { laneChart } from "./lanes.js";
import { HEAD, bar, dataOf, facts, lanesOf, readLadder, sentence, tableOf } from "./ladder_words.js";

const NAMES = ["size", "rung", "part", "view"];
const WHAT = {
  hardware: "the thick mark: cuBLAS in the same run; the thin line: four repeats in five",
  model: "the roof: whole waves of tiles on tensor cores that never wait, at the data sheet's rate",
  difference: "measured, and dashed the roof above it; the thick mark: cuBLAS in the same run",
};

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  let found = readLadder(spec, provenance, state()), lane = null;

  // Most rungs have one size: where the chosen one has no case, the best that has one is.
  function choose(size) {
    const { shown } = readLadder(spec, provenance, { ...state(), size });
    put(model, { size, rung: shown.some(({ name }) => name === model.get("rung")) ? model.get("rung") : shown.at(-1).name });
  }
  function chooser() {
    const list = h("select", { name: "size", onchange: () => choose(list.value) },
      ...spec.choices.size.map((size, at) => h("option", { value: size }, spec.labels[at])));
    return { node: h("label", { class: "tma-field tma-select" }, h("span", { class: "tma-legend" }, "m x n x k"), list), paint: () => (list.value = model.get("size")) };
  }

  const heading = h("b"), note = h("small");
  const rows = spec.rungs.map(({ name, idea, number }) => {
    const input = h("input", { type: "radio", name: "rung", value: name, onchange: () => put(model, { rung: name }) });
    const parts = Object.fromEntries(["roof", "ours", "band", "cublas"].map((part) => [part, h("i", { class: `tma-rung-${part}` })]));
    const words = h("small");
    const node = h("label", { class: "tma-rung" }, input, h("b", {}, `${number} ${idea}`), h("span", { class: "tma-rung-track" }, ...Object.values(parts)), words);
    return { name, input, parts, words, node };
  });
  const ladder = h("form", { class: "tma-rungs", onsubmit: (event) => event.preventDefault() },
    h("div", { role: "radiogroup", "aria-label": "Rung" }, ...rows.map(({ node }) => node)));
  const about = h("p", { class: "tma-rung-facts" });
  const chart = laneChart({
    label: "One block over time",
    onPoint: (mark) => { if (mark !== lane) { lane = mark; frame.light(); } },
    onPick: (mark) => { lane = mark; frame.light(); },
  });
  const lanesHead = h("b"), lanesNote = h("small"), box = h("div", {}, chart.node);
  const stage = h("div", { class: "tma-stage" },
    h("p", { class: "tma-head" }, heading, " ", note), ladder, about, h("p", { class: "tma-head" }, lanesHead, " ", lanesNote), box);

  const place = (node, from, to) => {
    node.hidden = from === null;
    if (from !== null) setAttribute(node, "style", `left:${(100 * from) / spec.peak_tflops}%;width:${(100 * (to - from)) / spec.peak_tflops}%`);
  };
  function paintRow({ name, input, parts, words, node }) {
    node.hidden = found.roof(name) === null;
    const one = found.isModel ? null : found.seen(name), roof = found.state.view === "hardware" ? null : found.roof(name);
    input.checked = name === found.state.rung;
    setText(words, bar(found, name));
    place(parts.roof, roof === null ? null : 0, roof);
    place(parts.ours, one ? 0 : null, one?.ours[0]);
    place(parts.band, one ? one.ours[1] : null, one?.ours[2]);
    place(parts.cublas, one ? one.cublas[0] : null, one?.cublas[0]);
  }
  function paint() {
    found = readLadder(spec, provenance, state());
    lane = null;
    setText(heading, `${found.label}, bf16`);
    setText(note, `TFLOP/s of ${spec.peak_tflops}, the data sheet's peak; ${WHAT[found.state.view]}`);
    rows.forEach(paintRow);
    setText(about, facts(found));
    const { part, one } = found;
    setText(lanesHead, "Block 0");
    setText(lanesNote, part ? `${found.state.part}, from cycle ${part.begin} of its life on; coloured: stands still for a full stage; hatched: ${found.rung.carries ? "carries tiles" : "waits for an empty one"}; outlined: multiplies, with the step's number; filled: asks for tiles, or the tile on its way out${part.turns ? "; nothing: it is the other's turn" : ""}`
      : found.isModel ? "The model has no stamps of a block." : one ? "This stretch was not stamped." : "Not measured.");
    box.hidden = !part;
    if (part) chart.draw({ lanes: lanesOf(found), from: 0, to: part.end, units: [["cycles", 1], ...(one.cycles_per_ns ? [["ns", 1 / one.cycles_per_ns]] : [])] });
    chart.setCursor(null);
  }
  function light() {
    chart.setHot(lane);
    return new Set([found.number]);
  }
  const words = () => lanesOf(found).flatMap(({ marks }) => marks).find(({ key }) => key === lane)?.say ?? sentence(found);
  const frame = card(model, el, {
    name: spec.name, title: spec.title, choices: spec.choices,
    controls: [chooser(), segments(model, "part", "Block 0's", spec.choices.part), segments(model, "view", "View", spec.choices.view)],
    stage, paint, light, sentence: words, provenance: () => found.source,
    table: () => ({ head: HEAD, rows: tableOf(found) }),
    data: () => ({ schema: spec.schema, figure: spec.name, title: spec.title, state: found.state, provenance: found.source, ...dataOf(found) }),
  });
  return frame.dispose;
}

export default { render };
