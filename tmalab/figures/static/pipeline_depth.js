// The depth sweep of "A pipeline": time a tile against stages, a row of dots a compute time, dashes for the model, and the
// field in which Little's law says that the consumers stand still. Boxes only, so that it can be saved as a picture.
import { h, setAttribute, setText } from "./kit.js";
import { ticks } from "./lanes.js";
import { pointOf } from "./pipeline_words.js";

const NEAR = 26; // px from a dot that still mean it

// `at` holds the state that was looked up, as `found`; onPoint and onPick get a dot's key, onPoint null too.
export function depthChart(at, { onPoint, onPick }) {
  const heading = h("b"), note = h("small"), plot = h("div", { class: "tma-depth-plot", role: "listbox" });
  const node = h("div", { class: "tma-depth" }, h("p", { class: "tma-head" }, heading, " ", note), plot);
  const dots = new Map();
  const nearest = (event) => {
    const gap = ({ dot }) => {
      const { left, top, width, height } = dot.getBoundingClientRect();
      return Math.hypot(event.clientX - left - width / 2, event.clientY - top - height / 2);
    };
    const found = [...dots.entries()].map(([key, one]) => [key, gap(one)]).filter(([, far]) => far < NEAR);
    return found.length ? found.reduce((best, one) => (one[1] < best[1] ? one : best))[0] : null;
  };
  plot.addEventListener("pointermove", (event) => onPoint(nearest(event)));
  plot.addEventListener("pointerleave", () => onPoint(null));
  plot.addEventListener("click", (event) => nearest(event) !== null && onPick(nearest(event)));
  plot.addEventListener("keydown", (event) => {
    const [stages, number] = (event.target.dataset.key ?? "").split(".").map(Number);
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = `${stages + step[0]}.${number + step[1]}`;
    if (dots.has(next)) { onPick(next); dots.get(next).dot.focus(); }
  });

  function paint() {
    const { found } = at, { sweep, spec, state, number, isModel } = found, isDifference = state.view === "difference";
    node.hidden = !sweep;
    if (!sweep) return;
    const depths = spec.choices.stages, points = depths.flatMap((stages) => spec.choices.compute.map((_, one) => pointOf(found, stages, one))).filter(Boolean);
    const high = isDifference ? 15 : 1.06 * Math.max(...points.map(({ value, told }) => Math.max(value, told))), low = isDifference ? -15 : 0;
    const y = (value) => `${(100 * (value - low)) / (high - low)}%`, x = (stages) => `${(100 * (stages - 0.5)) / depths.length}%`;
    setText(heading, isDifference ? "H200 − model, time a tile" : "Time a tile, by depth");
    setText(note, isDifference ? "in percent of the model's; the field is ±10%." : isModel ? "dots and dashes: the model; field: Little's law." : "dots: medians and all runs' range, filled where there is a bubble; dashes: the model; field: Little's law.");
    const field = depths.flatMap((stages) => {
      const [bottom, top] = isDifference ? [-10, 10] : [0, Math.min(found.border(stages), high)];
      const column = `left:${x(stages - 0.5)};width:${100 / depths.length}%;bottom:`;
      const box = h("i", { class: isDifference ? "tma-depth-band" : "tma-depth-field", style: `${column}${y(bottom)};height:calc(${y(top)} - ${y(bottom)})`, "aria-hidden": true });
      return isDifference || top === high ? [box] : [box, h("i", { class: "tma-depth-edge", style: column + y(top), "aria-hidden": true })];
    });
    const lines = ticks(low, high, 4).map((value, i, all) => h("i", { class: "tma-depth-line", style: `bottom:${y(value)}`, "aria-hidden": true },
      h("span", {}, `${value}${i === all.length - 1 ? (isDifference ? " %" : " ns") : ""}`)));
    const names = depths.map((stages) => h("i", { class: "tma-depth-stage", style: `left:${x(stages)}`, "aria-hidden": true }, `${stages}`, ...(stages === 1 ? [h("span", {}, " stage")] : [])));
    const ends = spec.choices.compute.flatMap((_, one) => {
      if (isDifference && one !== number) return []; // they would lie one over the other
      const last = points.filter((point) => point.number === one).at(-1);
      return h("i", { class: `tma-depth-name${one === number ? " tma-depth-mine" : ""}`, style: `bottom:${y(last.value)}`, "aria-hidden": true }, `${found.computeOf(one)} ns`);
    });
    const words = isDifference ? [] : [["left:.4rem;bottom:.3rem", "bubbles"], ["right:.4rem;top:.2rem", "latency hidden"]].map(([style, text]) =>
      h("i", { class: "tma-depth-word", style, "aria-hidden": true }, text));
    const held = dots.size && plot.contains(document.activeElement);
    dots.clear();
    const told = [], clamped = (value) => Math.min(Math.max(value, low), high);
    for (const { stages, number: one, value, range, told: foretold, bubbles, say } of points) {
      const mine = one === number, here = mine && stages === state.stages, key = `${stages}.${one}`;
      const dot = h("div", {
        class: `tma-depth-dot${bubbles ? " tma-depth-bubble" : ""}${mine ? " tma-depth-mine" : ""}${here ? " tma-depth-here" : ""}`, role: "option",
        "aria-selected": String(here), "aria-label": say, "data-key": key, tabindex: here ? 0 : -1, style: `left:${x(stages)};bottom:${y(value)}`,
      });
      dots.set(key, { dot, say });
      const [from, to] = range.map(clamped);
      told.push(h("i", { class: "tma-depth-range", style: `left:${x(stages)};bottom:${y(from)};height:calc(${y(to)} - ${y(from)})`, "aria-hidden": true }));
      if (!isDifference) told.push(h("i", { class: "tma-depth-told", style: `left:${x(stages)};bottom:${y(foretold)}`, "aria-hidden": true }));
    }
    const here = dots.get(`${state.stages}.${number}`)?.dot;
    if (!here && dots.size) [...dots.values()][0].dot.tabIndex = 0;
    setAttribute(plot, "aria-label", `${spec.title}: ${isDifference ? "measured against modelled" : "time a tile"}, by stages and compute time`);
    plot.replaceChildren(...field, ...lines, ...words, ...names, ...ends, ...told, ...[...dots.values()].map(({ dot }) => dot));
    if (held) here?.focus();
  }
  function light(key) {
    for (const [one, { dot }] of dots) dot.classList.toggle("tma-hot", one === key);
  }
  return { node, paint, light, say: (key) => dots.get(key)?.say };
}
