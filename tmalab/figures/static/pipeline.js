// "A pipeline": who does what when, the consumers' bubbles first; and what a tile takes at every depth. Every time comes from
// Python (pipeline_tables.py), measured or modelled; the lanes and words from pipeline_words.js.
import { card, h, put, segments, setText } from "./kit.js";
import { laneChart } from "./lanes.js";
import { depthChart } from "./pipeline_depth.js";
import { bandsOf, dataOf, heading, isHidden, lanesOf, law, partsOf, readPipeline, sentence, sweepOf, tableOf, verdict } from "./pipeline_words.js";

const NAMES = ["tile", "compute", "stages", "view"];

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const at = { found: null };
  const seek = () => { at.found = readPipeline(spec, provenance, Object.fromEntries(NAMES.map((name) => [name, model.get(name)]))); };
  seek();
  let pointed = null; // {mark} or {dot}: what the pointer or the focus is on
  const about = (what) => { pointed = what; frame.light(); };

  const number = h("b", { class: "tma-pipe-number" }), means = h("span", { class: "tma-pipe-means" });
  const bar = h("div", { class: "tma-pipe-bar", "aria-hidden": true }), little = h("p", { class: "tma-pipe-law" });
  const chart = laneChart({
    label: `${spec.title}: who does what when`,
    onPoint: (mark) => mark !== (pointed?.mark ?? null) && about(mark === null ? null : { mark }), onPick: (mark) => about({ mark }),
  });
  const lanes = h("div", { class: "tma-pipe-lanes" }, chart.node);
  const depths = depthChart(at, {
    onPoint: (dot) => dot !== (pointed?.dot ?? null) && about(dot === null ? null : { dot }),
    onPick: (dot) => {
      const [stages, one] = dot.split(".").map(Number);
      pointed = null;
      put(model, { stages, compute: spec.choices.compute[one] });
    },
  });
  const stage = h("div", { class: "tma-stage tma-pipe" },
    h("div", { class: "tma-pipe-hero" }, h("p", {}, number, " ", means), bar), little, lanes, depths.node);

  let drawn = null;
  function paint() {
    seek();
    const { found } = at, { cell, state } = found;
    setText(number, heading(found));
    number.classList.toggle("tma-pipe-bubbles", Boolean(cell) && state.view !== "difference" && !isHidden(found));
    setText(means, verdict(found));
    setText(little, law(found));
    bar.replaceChildren(...partsOf(found).map(({ kind, text, share }) => h("i", { class: `tma-pipe-${kind}`, style: `width:${100 * share}%` }, h("span", { class: text.length > 8 ? "tma-pipe-long" : null }, text))));
    lanes.hidden = !cell;
    const key = NAMES.map((name) => state[name]).join();
    if (cell && drawn !== key) {
      pointed = null;
      chart.draw({ lanes: lanesOf(found), from: 0, to: found.end, units: [["ns", 1 / found.sweep.cycles_per_ns]], bands: bandsOf(found) });
    }
    drawn = key;
    chart.setCursor(null);
    depths.paint();
  }
  function light() {
    const { mark = null, dot = null } = pointed ?? {};
    const tile = mark === null ? null : mark === "start" ? "0" : mark.split("-")[1];
    chart.setHot(mark, (one) => tile !== null && one.endsWith(`-${tile}`)); // a tile's way through all lanes
    depths.light(dot);
    return new Set(tile === null ? [] : [+tile]);
  }
  function told() {
    const { mark, dot } = pointed ?? {};
    const said = mark ? lanesOf(at.found).flatMap(({ marks }) => marks).find(({ key }) => key === mark)?.say : depths.say(dot);
    return said ?? sentence(at.found);
  }

  const frame = card(model, el, {
    name: spec.name, title: spec.title, choices: spec.choices,
    controls: [
      segments(model, "stages", "Stages", spec.choices.stages), segments(model, "compute", "Compute a tile, ns", spec.choices.compute, (fma) => at.found.computeName(fma)),
      segments(model, "tile", "Tile, KiB", spec.choices.tile, (bytes) => String(bytes / 1024)), segments(model, "view", "View", spec.choices.view),
    ],
    stage, paint, light, sentence: told, provenance: () => at.found.source, table: () => tableOf(at.found), more: () => [sweepOf(at.found)],
    data: () => ({ schema: spec.schema, figure: spec.name, title: spec.title, state: at.found.state, provenance: at.found.source, ...dataOf(at.found) }),
  });
  return frame.dispose;
}

export default { render };
