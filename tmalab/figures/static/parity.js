// "Parity": what test_wait and the waits did on a barrier over seven tiles, a column a tile. The tables come from Python
// (parity_tables.py), the words from parity_words.js.
import { card, cellGrid, h, segments, setAttribute, setText } from "./kit.js";
import { stepper } from "./lanes.js";
import { HEAD, LABELS, differs, hardware, labelOf, note, predicted, readParity, ruleSays, sentence, shown, tableOf, used } from "./parity_words.js";

const NAMES = ["rule", "view", "tile", "row"];

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance"), { tiles } = spec, rows = spec.rows.length;
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  let found = readParity(spec, provenance, state());
  let pointed = null; // the cell under the pointer; else the picked one
  const singled = () => pointed ?? found.state.row * tiles + found.state.tile;
  const about = (at) => { pointed = at; frame.light(); };
  const pick = (at) => {
    pointed = null;
    model.set("tile", at % tiles);
    model.set("row", Math.floor(at / tiles));
    model.save_changes();
    frame.light();
  };

  const grid = cellGrid({
    label: `${spec.title}: answers, waits and words, a column a tile`, rows, cols: tiles,
    before: (row) => h("span", { class: "tma-parity-label", "aria-hidden": true }, h("b", {}, LABELS[row][0]), " ", h("small", {}, LABELS[row][1])),
    onPoint: about, onPick: pick,
  });
  grid.lines.forEach((line, row) => LABELS[row][0] && line.classList.add("tma-parity-first"));
  const heads = Array.from({ length: tiles }, () => h("span", {}, h("b"), " ", h("small"), " ", h("small")));
  const now = h("div", { class: "tma-parity-now", "aria-hidden": true });
  const rule = h("p", { class: "tma-parity-rule" }), whose = h("small");
  const legend = h("p", { class: "tma-key" }, h("span", { class: "tma-parity-swatch", "aria-hidden": true }), " the parity that the wait is given. Yes: test_wait says that this parity's phase is complete. ", whose);
  const stage = h("div", { class: "tma-stage tma-parity" }, rule,
    h("div", { class: "tma-parity-framed" },
      h("div", { class: "tma-row tma-parity-head", "aria-hidden": true }, h("span", { class: "tma-parity-label" }, h("b", {}, "tile and phase"), " ", h("small", {}, "its parity"), " ", h("small", {}, "the wait is given")), ...heads),
      grid.node, now), legend);

  function paint() {
    found = readParity(spec, provenance, state());
    const { view, tile, row } = found.state;
    setText(rule, ruleSays(found).join(" "));
    setText(whose, note(found));
    whose.classList.toggle("tma-unmeasured", view !== "model" && !found.seen.some(Boolean));
    heads.forEach((head, i) => {
      [i, i % 2, found.model.given[i]].forEach((number, line) => setText(head.children[line], `${number}`));
      head.classList.toggle("tma-parity-off", found.model.given[i] % 2 !== i % 2);
    });
    for (const [r, t] of found.cells) {
      const node = grid.cells[r * tiles + t], [main, small, kind] = shown(found, r, t);
      const wrong = view !== "model" && differs(found, r, t), faded = view === "difference" && !wrong;
      setAttribute(node, "class", `tma-cell tma-parity-${kind}${wrong ? " tma-wrong" : faded ? " tma-equal" : ""}${used(found, r, t) ? " tma-parity-used" : ""}`);
      setText(node.firstChild, main);
      const below = wrong && view === "difference" ? `≠ ${predicted(found, r, t)[0]}` : small, seen = hardware(found, r, t);
      setText(node.lastChild, below);
      // A cell's name begins with what is seen in it, so that whoever says what they see is understood.
      setAttribute(node, "aria-label", [`${main} ${below}`.trim(), `tile ${t}`, ...labelOf(r), used(found, r, t) ? "the wait is given this" : "", wrong ? "differs" : "", seen || view === "model" ? "" : "not measured"].filter(Boolean).join(", "));
    }
    now.style.setProperty("--at", tile);
    grid.setStop(row * tiles + tile);
  }
  function light() {
    grid.cells.forEach((node, at) => node.classList.toggle("tma-hot", at === singled()));
    return new Set([singled()]);
  }

  const steps = stepper(model, "tile", "Tile", () => tiles, (at) => [`${at}`, `tile ${at} of ${tiles}`]);
  const frame = card(model, el, {
    name: spec.name, title: spec.title, choices: spec.choices,
    controls: [segments(model, "rule", "The wait is given", spec.choices.rule), steps, segments(model, "view", "View", spec.choices.view)],
    stage, paint, light, sentence: () => sentence(found, Math.floor(singled() / tiles), singled() % tiles),
    table: () => ({ head: HEAD, rows: tableOf(found) }), provenance: () => found.source,
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: found.state, provenance: found.source,
      table: tableOf(found).map(({ cells }) => Object.fromEntries(HEAD.map((head, i) => [head, cells[i]]))),
    }),
  });
  return () => { steps.dispose(); frame.dispose(); };
}

export default { render };
