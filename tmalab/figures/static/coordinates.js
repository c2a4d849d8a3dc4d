// "A coordinate tensor": the strips in four columns of cells, a cell a tile; the calls of the one that is chosen; and the
// loads of its block over time. Every number comes from Python (coordinates_tables.py).
import { card, cellGrid, h, put, segments, setAttribute, setText, slider } from "./kit.js";
import { laneChart } from "./lanes.js";
import { HEAD, callsOf, cellOf, keyOf, lanesOf, readRun, sentence, sourceOf, startOf, tableOf } from "./coordinates_words.js";

const NAMES = ["view", "shown", "block", "column"];
const SHOWN = { landed: "when each tile was seen complete, µs since the first load was issued", SM: "the SM that each block ran on" };

function render({ model, el }) {
  const spec = model.get("spec"), run = readRun(spec, model.get("provenance"));
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const perBand = Math.ceil(spec.strips / spec.bands), cols = spec.bands * spec.tiles;
  // A cell stands at row * cols + col; the strips run down the first band, then down the next.
  const tileAt = (at) => {
    const row = Math.floor(at / cols), col = at % cols;
    return (Math.floor(col / spec.tiles) * perBand + row) * spec.tiles + (col % spec.tiles);
  };
  const places = new Map(Array.from({ length: perBand * cols }, (_, at) => [tileAt(at), at]));
  let now = state(), pointed = null, lane = null;
  const chosen = () => now.block * spec.tiles + now.column;
  const pick = (tile) => put(model, { block: Math.floor(tile / spec.tiles), column: tile % spec.tiles });

  const heading = h("b"), note = h("small");
  const head = h("p", { class: "tma-head" }, heading, " ", note);
  const key = h("p", { class: "tma-key tma-coord-key" });
  const bands = h("div", { class: "tma-coord-bands", "aria-hidden": true }, ...Array.from({ length: spec.bands }, (_, band) =>
    h("span", {}, `${band ? "" : "blocks "}${band * perBand} to ${Math.min((band + 1) * perBand, spec.strips) - 1}`)));
  const grid = cellGrid({
    label: "the matrix, a cell a tile", rows: perBand, cols,
    onPoint: (at) => { pointed = at === null ? null : tileAt(at); lane = null; frame.light(); },
    onPick: (at) => { pointed = lane = null; pick(tileAt(at)); },
  });
  const calls = h("dl", { class: "tma-coord-calls" });
  const chart = laneChart({
    label: "The block's loads over time",
    onPoint: (mark) => { if (mark !== lane) { lane = mark; frame.light(); } },
    onPick: (mark) => { lane = mark; frame.light(); },
  });
  const chartBox = h("div", { class: "tma-coord-chart" }, chart.node);
  const stage = h("div", { class: "tma-stage tma-coord" }, head, key, bands, h("div", { class: "tma-coord-grid" }, grid.node), calls, chartBox);

  function paint() {
    now = state();
    setText(heading, `${spec.strips} strips of ${spec.tiles} tiles, ${spec.tile.join(" x ")}`);
    const measured = now.view === "hardware" ? SHOWN[now.shown] : now.view === "model" ? "block and tile of its strip" : "elements that differ from the matrix";
    setText(note, run.one || now.view === "model" ? `${measured}.` : run.source);
    grid.cells.forEach((cell, at) => {
      const tile = tileAt(at), [text, shade] = cellOf(spec, run, now, tile);
      const wrong = now.view === "difference" && run.one && text !== "0";
      setAttribute(cell, "class", `tma-cell ${shade !== null ? "tma-shade" : wrong ? "tma-wrong" : "tma-equal"}`);
      setAttribute(cell, "style", shade === null ? null : `--tint:var(--tma-r${shade})`);
      setText(cell.firstChild, text);
      const [row, col] = startOf(spec, tile);
      setAttribute(cell, "aria-label", `${text}, tile ${Math.floor(tile / spec.tiles)}, ${tile % spec.tiles}, element ${row}, ${col}`);
    });
    grid.setStop(places.get(chosen()));
    const scale = keyOf(run, now);
    key.replaceChildren(...(scale.length ? [h("b", {}, now.shown === "SM" ? "SM" : "µs"), ...scale.map(([shade, words]) =>
      h("span", {}, h("i", { class: "tma-land-swatch", style: `--tint:var(--tma-r${shade})` }), words))] : []));
    calls.replaceChildren(...callsOf(spec, now).flatMap(([call, gives]) => [h("dt", {}, call), h("dd", {}, gives)]));
    chartBox.hidden = !run.one || now.view === "model";
    if (!chartBox.hidden) chart.draw({ lanes: lanesOf(spec, run, now), from: 0, to: run.one.end, units: [["ns", 1]] });
    chart.setCursor(null);
  }

  function light() {
    const hot = lane !== null ? +lane : pointed ?? chosen();
    grid.cells.forEach((cell, at) => cell.classList.toggle("tma-hot", tileAt(at) === hot));
    chart.setHot(String(hot));
    return new Set([Math.floor(hot / spec.tiles)]);
  }
  const words = () => {
    const mark = lane === null ? null : lanesOf(spec, run, now).flatMap((each) => each.marks).find((each) => each.key === lane);
    return mark ? mark.say : sentence(spec, run, now, pointed ?? chosen());
  };

  const count = (many) => Array.from({ length: many }, (_, i) => i);
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, block: count(spec.strips), column: count(spec.tiles) },
    controls: [
      segments(model, "view", "Shown", spec.choices.view), segments(model, "shown", "Shade", spec.choices.shown),
      slider(model, "block", "Block", "block", count(spec.strips), "", (block) => [`${block}`, `block ${block}`]),
      slider(model, "column", "Tile of its strip", "tile of its strip", count(spec.tiles), "", (column) => [`${column}`, `tile ${column}`]),
    ],
    stage, paint, light, sentence: words, provenance: () => sourceOf(run, now),
    table: () => ({ head: HEAD, rows: tableOf(spec, run) }),
    data: () => {
      const [row, col] = startOf(spec, chosen());
      return {
        schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: sourceOf(run, now),
        element: [row, col], coords: [col, row], calls: callsOf(spec, now),
        measured: run.one ? {
          tick_ns: run.one.tick, issued_ns: run.issued, landed_ns: run.landed, differ: run.differ, sm: run.sm,
          elements: run.one.elements, version: run.one.version,
        } : null,
      };
    },
  });
  return frame.dispose;
}

export default { render };
