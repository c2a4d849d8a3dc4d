// "The tile landing": the destination in shared memory, a cell a piece, shaded by when it was first seen changed; and
// under it the same run over time. Every number comes from Python (landing_tables.py).
import { card, cellGrid, h, put, segments, setAttribute, setText } from "./kit.js";
import { laneChart, stepper } from "./lanes.js";
import { HEAD, landed, ns, place, readLanding, recorded, sentence, tableOf } from "./landing_words.js";

const NAMES = ["tile", "warmth", "shown", "frame", "piece"];
const TITLES = { "one run": "the run drawn", median: "the median of all runs", spread: "from 10 % to 90 % of the runs" };

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  let now, found, drawn = null, grid = null;
  const seek = () => { now = state(); found = readLanding(spec, provenance, now); };
  let pointed = null; // the piece that the pointer singles out, else the picked one
  let lane = null; // the key of the mark that it singles out, which the sentence is about then

  const head = h("p", { class: "tma-head" }), heading = h("b"), note = h("small");
  head.append(heading, " ", note);
  const key = h("p", { class: "tma-key tma-land-key" });
  const place_ = h("div", { class: "tma-land-grid" });
  const chart = laneChart({
    label: "The run over time",
    onPoint: (mark) => { if (mark !== lane) { lane = mark; frame.light(); } },
    onPick: (mark) => { lane = mark; frame.light(); },
  });
  const chartBox = h("div", { class: "tma-land-chart" }, chart.node);
  const stage = h("div", { class: "tma-stage tma-land" }, head, h("div", { class: "tma-land-both" }, place_, key), chartBox);

  function choose(tile) {
    const can = recorded(spec, provenance, tile);
    put(model, { tile, warmth: can.includes(now.warmth) ? now.warmth : can.at(-1) ?? now.warmth });
  }
  const warmth = segments(model, "warmth", "The caches", spec.choices.warmth);
  function chooser() {
    const list = h("select", { onchange: () => choose(list.value) }, ...spec.tiles.map((tile) => h("option", { value: tile.name, title: `${tile.bytes / 1024} KB, a cell for each ${tile.piece_bytes} bytes` }, tile.label)));
    return { node: h("label", { class: "tma-field tma-select" }, h("span", { class: "tma-legend" }, "Box"), list), paint: () => (list.value = model.get("tile")) };
  }
  const steps = stepper(model, "frame", "Time", () => spec.frames + 1, () => {
    seek();
    return found.one ? [`${found.now} cycles`, landed(found)] : ["", "not measured"];
  });

  function lay() {
    const { pieces, cols, piece_bytes: bytes } = found.tile;
    grid = cellGrid({
      label: "shared memory", rows: pieces / cols, cols,
      before: (row) => h("span", { class: "tma-land-address", "aria-hidden": true }, String(row * cols * bytes)),
      onPoint: (at) => { pointed = at; lane = null; frame.light(); },
      onPick: (at) => { pointed = null; lane = null; put(model, { piece: at }); },
    });
    place_.style.setProperty("--cols", cols);
    place_.classList.toggle("tma-land-wide", cols > 8);
    place_.replaceChildren(grid.node);
  }

  function paint() {
    seek();
    if (drawn !== now.tile) {
      drawn = now.tile;
      pointed = lane = null;
      lay();
    }
    const can = recorded(spec, provenance, now.tile);
    for (const input of warmth.node.querySelectorAll("input")) input.disabled = !can.includes(input.value) && input.value !== now.warmth;
    const { one, tile, shades, values } = found;
    setText(heading, "Shared memory");
    setText(note, one ? `${TITLES[now.shown]}: ${landed(found)}. Looks came ${one.resolution} cycles apart (median). Time has no model here: all is measured.` : found.source);
    note.classList.toggle("tma-unmeasured", !one);
    grid.cells.forEach((cell, piece) => {
      const is = shades[piece];
      setAttribute(cell, "class", `tma-cell ${is === null ? "tma-out" : "tma-shade"}`);
      setAttribute(cell, "style", is === null ? null : `--tint:var(--tma-r${is})`);
      setText(cell.firstChild, is === null ? "" : String(values[piece]));
      const said = is !== null ? `${values[piece]} cycles` : one ? "not landed yet" : "not measured";
      setAttribute(cell, "aria-label", `${said}, bytes ${place(tile, piece)[0]}`);
    });
    grid.setStop(found.piece);
    key.replaceChildren(...(one ? [h("b", {}, "cycles since the issue"), ...found.key.map(([is, words]) =>
      h("span", {}, h("i", { class: "tma-land-swatch", style: `--tint:var(--tma-r${is})` }), words))] : []));
    if (now.shown === "spread" && one) setText(key.firstChild, "cycles between 10 % and 90 %");
    chartBox.hidden = !one;
    if (one) {
      chart.draw({ lanes: one.lanes, from: 0, to: one.end, units: [["cycles", 1], ["ns", 1 / one.cycles_per_ns]] });
      chart.setCursor(Math.max(found.now, 0));
    }
  }

  function light() {
    const hot = pointed ?? found.piece;
    grid.cells.forEach((cell, piece) => cell.classList.toggle("tma-hot", lane === null && piece === hot));
    chart.setHot(lane);
    return new Set(lane === null ? [hot] : []);
  }
  function words() {
    if (lane !== null && found.one) {
      const mark = found.one.lanes.flatMap((each) => each.marks).find((each) => each.key === lane);
      if (mark) return mark.say;
    }
    return sentence(found, pointed ?? found.piece);
  }

  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, frame: Array.from({ length: spec.frames + 1 }, (_, i) => i), piece: Array.from({ length: spec.most_pieces }, (_, i) => i) },
    controls: [chooser(), warmth, segments(model, "shown", "Shown", spec.choices.shown), steps],
    stage, paint, light, sentence: words, provenance: () => found.source,
    table: () => ({ head: HEAD, rows: tableOf(found) }),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: found.source,
      ...(found.one ? {
        measured: Object.fromEntries(["runs", "resolution", "cycles_per_ns", "issued", "complete", "completes"].map((name) => [name, found.one[name]])),
        box_dim: found.tile.box, swizzle: found.tile.swizzle, piece_bytes: found.tile.piece_bytes, landed_cycles: found.run, median_cycles: found.median,
        low_cycles: found.low, high_cycles: found.high,
      } : { measured: null }),
    }),
  });
  return () => { steps.dispose(); frame.dispose(); };
}

export default { render };
