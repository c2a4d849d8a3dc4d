// "When may I reuse the buffer?": the buffer's lines, how often each reached global memory overwritten, and who did what
// when. The tables come from Python (reuse_tables.py), the words from reuse_words.js.
import { card, cellGrid, h, put, segments, setAttribute, setText } from "./kit.js";
import { laneChart } from "./lanes.js";
import { HEAD, dataOf, fate, hits, lanesOf, note, program, readReuse, says, sentence, shade, tableOf } from "./reuse_words.js";

const NAMES = ["stores", "commits", "wait", "n", "view", "line"];
const ACROSS = 8;

// One box a store: whether a commit_group follows it. The state is one number, bit i for store i.
function commitBoxes(model, most) {
  const inputs = Array.from({ length: most }, (_, i) => h("input", {
    type: "checkbox", "aria-label": `commit_group after store ${i}`, onchange: () => put(model, { commits: model.get("commits") ^ (1 << i) }),
  }));
  const labels = inputs.map((input, i) => h("label", {}, input, h("span", {}, `${i}`)));
  const node = h("fieldset", { class: "tma-field" }, h("legend", {}, "Commit after store"), h("div", { class: "tma-segments" }, ...labels));
  const paint = () => inputs.forEach((input, i) => {
    input.checked = Boolean((model.get("commits") >> i) & 1);
    input.disabled = i >= model.get("stores");
  });
  return { node, paint };
}

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance"), { lines } = spec, most = spec.choices.stores.length;
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  let found = readReuse(spec, provenance, state()), drawn = null; // the combination whose lanes stand in the chart
  let pointed = null; // what the pointer or the focus is on besides the picked line: {cell} or {mark}
  const about = (what) => { pointed = what; frame.light(); };
  const singled = () => pointed ?? { cell: found.line };
  const pick = (cell) => { pointed = null; put(model, { line: cell }); frame.light(); };

  const blocks = Array.from({ length: most }, (_, store) => {
    const title = h("b", {}, `store ${store}`), group = h("small"), seen = h("small");
    const grid = cellGrid({
      label: `${spec.title}: lines of store ${store}`, rows: lines / ACROSS, cols: ACROSS,
      onPoint: (at) => about(at === null ? null : { cell: store * lines + at }), onPick: (at) => pick(store * lines + at),
    });
    return { node: h("div", { class: "tma-reuse-block" }, h("p", { class: "tma-head" }, title, " ", group, " ", seen), grid.node), grid, group, seen };
  });
  const steps = h("p", { class: "tma-reuse-steps" }), verdict = h("p", { class: "tma-reuse-says" }), whose = h("small");
  const means = h("span"), key = h("p", { class: "tma-key" }, "One cell is a line of 128 bytes: ", means, " ", whose);
  const chart = laneChart({
    label: `${spec.title}: who did what when`,
    onPoint: (mark) => about(mark === null ? null : { mark }), onPick: (mark) => about({ mark }),
  });
  chart.setCursor(null);
  const stage = h("div", { class: "tma-stage tma-reuse" }, steps, verdict, h("div", { class: "tma-reuse-blocks" }, ...blocks.map(({ node }) => node)), key, chart.node);

  function paintBlock({ node, grid, group, seen }, store) {
    node.hidden = store >= found.stores;
    if (node.hidden) return;
    const letter = found.letters[store], { view } = found.state;
    setText(group, fate(found, store));
    setText(seen, hits(found, store));
    node.classList.toggle("tma-reuse-covered", letter === "c");
    grid.cells.forEach((cell, at) => {
      const count = view === "model" || !found.counts ? null : found.counts[store * lines + at];
      const wrong = count > 0 && letter === "c", faded = view === "difference" && !wrong;
      const look = wrong ? "tma-wrong" : faded ? "tma-equal" : count ? "" : count === null && letter !== "c" ? "tma-reuse-open" : "tma-out";
      setAttribute(cell, "class", `tma-cell ${look}`.trim());
      setAttribute(cell, "style", count && !faded && !wrong ? `--tint:var(--tma-r${shade(count, found.run.rounds)})` : null);
      setText(cell.firstChild, count ? `${count}` : "");
      const said = count === null ? (letter === "c" ? "safe" : "may be overwritten") : `${count} of ${found.run.rounds} rounds`;
      setAttribute(cell, "aria-label", `${said}, line ${at} of store ${store}${wrong ? ", differs" : ""}`);
    });
  }
  function paint() {
    found = readReuse(spec, provenance, state());
    const { view } = found.state, store = Math.floor(found.line / lines);
    steps.replaceChildren(...program(found).map((step) => h("code", { class: step.startsWith("store") ? "" : step === "commit_group" ? "tma-reuse-commit" : step === "overwrite" ? "tma-reuse-over" : "tma-reuse-wait" }, step)));
    setText(verdict, says(found));
    blocks.forEach(paintBlock);
    blocks[store].grid.setStop(found.line % lines);
    setText(means, view === "model" ? "safe, or hatched where it may be overwritten too early." : "in how many rounds it reached global memory overwritten.");
    setText(whose, view === "model" ? "" : note(found));
    whose.classList.toggle("tma-unmeasured", view !== "model" && !found.seen);
    chart.node.hidden = !found.seen;
    if (drawn !== found.seen && found.seen) {
      pointed = null;
      chart.draw({ lanes: lanesOf(found), from: 0, to: found.run.end * 1.02, units: [["cycles", 1], ["ns", 1 / found.run.cycles_per_ns]] });
    }
    drawn = found.seen;
  }
  function light() {
    const { cell, mark = null } = singled();
    blocks.forEach(({ grid }, store) => grid.cells.forEach((node, at) => node.classList.toggle("tma-hot", store * lines + at === cell)));
    chart.setHot(mark);
    if (cell === undefined) return new Set();
    return new Set([tableOf(found).findLast((row) => row.key <= cell)?.key]);
  }
  function told() {
    const { cell, mark } = singled();
    if (mark === undefined) return sentence(found, cell);
    return lanesOf(found).flatMap(({ marks }) => marks).find((one) => one.key === mark)?.say ?? "";
  }

  const newest = segments(model, "n", "N", spec.choices.n);
  const paintNewest = () => { newest.paint(); for (const input of newest.node.querySelectorAll("input")) input.disabled = model.get("wait") === "none"; };
  const frame = card(model, el, {
    name: spec.name, title: spec.title, choices: spec.choices,
    controls: [
      segments(model, "stores", "Stores", spec.choices.stores), commitBoxes(model, most),
      segments(model, "wait", "wait_group", spec.choices.wait), { ...newest, paint: paintNewest }, segments(model, "view", "View", spec.choices.view),
    ],
    stage, paint, light, sentence: told, table: () => ({ head: HEAD, rows: tableOf(found) }), provenance: () => found.source,
    data: () => ({ schema: spec.schema, figure: spec.name, title: spec.title, state: found.state, provenance: found.source, ...dataOf(found) }),
  });
  return frame.dispose;
}

export default { render };
