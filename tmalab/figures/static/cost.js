// "What does my access cost?": a tile and an access to it are chosen; the banks, the wavefronts and the price come from
// Python: with the page for what was measured, from the kernel or a worker for what is typed (python.js).
import { card, h, put, segments, setAttribute, setText } from "./kit.js";
import { pythonOf } from "./python.js";
import { HEAD, LANES, cycles, expressionOf, layoutName, lookUp, numberError, plural, pointAt, sentence, tableOf, wayOf, whole } from "./cost_words.js";
import { banks } from "./cost_banks.js";

const MOST_KEPT = 500; // answers
const CALL = "tmalab.checker.cost:cost_json";
const NOT_MEASURED = "Model, not measured: there is no recording of this state.";
const NAMES = {
  row: "row", column: "column", diagonal: "diagonal", transposed: "transposed", ldmatrix: "ldmatrix x4",
  ldmatrix_trans: "ldmatrix .trans", expression: "your own", element: "one element", 4: "4 bytes", 8: "8 bytes", 16: "16 bytes",
};

function render({ model, el }) {
  const spec = model.get("spec");
  const { gpu, line, measured } = model.get("provenance");
  const names = ["dtype", "rows", "row_bytes", "swizzle", "padding", "base", "access", "width", "edit", "view", "wave", "lane"];
  const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const answers = new Map();
  const wrong = new Map(); // by name, the numbers that were typed and are none: {typed, said, kept}; the state has `kept`
  function seek() {
    const found = lookUp(spec, measured, state(), answers);
    const error = [...wrong.values()].map(({ said }) => said).join(" ");
    return error ? { ...found, told: { error, column: null }, runs: false, measured: false, waves: 0, wave: 0, words: [] } : found;
  }
  // `wanted` is the state that the reader has set, `found` the one that is drawn: until Python has answered, the last.
  const at = { wanted: seek(), found: null };
  at.found = at.wanted;
  let pointed = null; // the lane under the pointer; else the picked one

  const python = pythonOf(model, CALL, at.found.question);
  let asking = null, next = null;
  function ask(question) {
    if (asking !== null) return void (next = question); // one at a time; of those that come meanwhile, the last
    asking = question;
    python.ask(question).catch((error) => ({ error: String(error.message ?? error), column: null })).then((answer) => {
      if (answers.size > MOST_KEPT) answers.clear();
      answers.set(question, answer);
      asking = null;
      if (next !== null && !answers.has(next)) ask(next);
      next = null;
      frame.repaint();
    });
  }

  // --- controls -----------------------------------------------------------------------------------------------------

  function chooser(name, legend, values, label = String) {
    const select = h("select", { name, onchange: () => change({ [name]: typeof values[0] === "number" ? Number(select.value) : select.value }) });
    let shown = null;
    const paint = () => {
      const value = model.get(name), listed = values.includes(value) ? values : [...values, value];
      if (String(listed) !== shown) select.replaceChildren(...listed.map((one) => h("option", { value: one }, label(one))));
      shown = String(listed);
      select.value = value;
    };
    return { name, legend, node: h("label", { class: "tma-field" }, h("span", { class: "tma-legend" }, legend), select), select, paint };
  }
  const change = (values) => {
    const typed = values.access === "expression" && !model.get("edit") ? { edit: expressionOf(spec, state()) } : {};
    put(model, { ...typed, ...values, wave: 0 });
  };
  const width = chooser("width", "Each lane moves", spec.choices.width, (value) => NAMES[value]);
  const lanesMove = { node: width.node, paint() {
    width.paint();
    const matrix = width.select.disabled = spec.matrix.includes(model.get("access"));
    if (matrix) width.select.value = "16"; // what a lane of ldmatrix names
  } };

  // --- the tile, and what is typed ----------------------------------------------------------------------------------

  const dtype = chooser("dtype", "Tile of", spec.choices.dtype);
  // Chosen among what is recorded; where Python computes, typed.
  const sizes = [
    [chooser("rows", "rows", spec.rows), 1, 1], [chooser("row_bytes", "row bytes", spec.row_bytes), 16, 1],
    [chooser("padding", "padding", spec.paddings), 4, 0], [chooser("base", "base address", [0]), 128, 0],
  ].map(([choice, step, least]) => {
    const input = h("input", {
      type: "number", name: choice.name, min: 0, step, "aria-label": choice.legend,
      onchange: () => {
        const { name, legend } = choice, typed = input.value.trim(), value = whole(typed);
        if (value >= least) {
          wrong.delete(name);
          change({ [name]: value });
        } else wrong.set(name, { typed, said: numberError(legend, least, typed), kept: model.get(name) });
        frame.repaint();
      },
    });
    choice.node.append(input);
    return {
      node: choice.node,
      paint() {
        choice.paint();
        choice.select.hidden = python.computes;
        choice.select.disabled = choice.select.length < 2;
        input.hidden = !python.computes;
        const mine = wrong.get(choice.name);
        setAttribute(input, "aria-invalid", mine ? true : null);
        if (input !== document.activeElement) input.value = mine ? mine.typed : model.get(choice.name);
      },
    };
  });
  const code = h("code");
  const typed = h("input", {
    type: "text", class: "tma-typed", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 300,
    "aria-label": "your own expression of the lane", onchange: () => change({ access: "expression", edit: typed.value }),
  });
  const load = h("button", { type: "button", class: "tma-button", onclick: () => python.start() });
  const why = h("small", { role: "status" });
  const hint = h("small", {}, `a byte of the tile, or a row and a vector of it; it may name ${spec.names.join(", ")}`);
  const caret = h("pre", { class: "tma-caret", "aria-hidden": true });
  const own = h("div", { class: "tma-own" },
    h("div", { class: "tma-tile-line" }, dtype.node, ...sizes.map(({ node }) => node)),
    h("div", { class: "tma-typed-line" }, h("label", {}, h("span", { class: "tma-legend" }, "Lane reads"), code, typed), h("span", {}, why, " ", load)),
    hint, caret);
  function paintOwn() {
    const { computes, state: python_state } = python, { told } = at.found;
    for (const one of [dtype, ...sizes]) one.paint();
    const text = expressionOf(spec, state());
    setText(code, text || "–");
    code.hidden = computes;
    typed.hidden = !computes;
    if (typed !== document.activeElement) typed.value = text;
    load.hidden = !["off", "loading", "failed"].includes(python_state);
    load.disabled = python_state === "loading";
    setText(load, python_state === "failed" ? "Try again" : "Let me type it");
    setText(why, python.why);
    hint.hidden = !computes;
    const wrong = told?.error && told.column ? pointAt(text, told.column) : "";
    caret.hidden = !wrong;
    setText(caret, wrong);
    setAttribute(typed, "aria-invalid", wrong ? true : null);
  }

  // --- the price ------------------------------------------------------------------------------------------------------

  const degree = h("b", { class: "tma-degree" }), paid = h("p", { class: "tma-paid" });
  const others = h("div", { class: "tma-others" });
  const words = h("p", { class: "tma-advice" });
  const take = h("button", { type: "button", class: "tma-button" });
  const notes = h("p", { class: "tma-notes" });
  const othersHead = h("p", { class: "tma-head" }, h("b", {}, "The same access, laid out otherwise"));
  const star = h("p", { class: "tma-notes" }, "* the engine does not leave this in one box");
  const price = h("div", { class: "tma-price" }, h("div", {}, degree, paid, words, take, notes), h("div", {}, othersHead, others, star));
  take.onclick = () => {
    const { swizzle, padding_bytes: padding } = at.found.told.advice;
    change({ swizzle, padding });
  };
  function paidWords({ told, measured: seen }, view) {
    const foretold = `${plural(told.count, "wavefront")}, ${cycles(told.cycles)} an access foretold; ${told.min_count} at the least`;
    if (view === "model" || !seen) return `${foretold}${seen || view === "model" ? "" : ". Model, not measured"}`;
    const { cycles: took, spread, count } = told.measured;
    if (view === "difference") return `${Math.abs(count - told.count)} of ${plural(told.count, "wavefront")} differ: ${told.count} foretold, ${count} measured; ${cycles(told.cycles)} foretold, ${took.toFixed(1)} measured`;
    return `${plural(count, "wavefront")}, ${took.toFixed(2)} cycles an access on the ${gpu}, its runs within ${Math.max(spread, 0.01).toFixed(2)}; ${plural(told.min_count, "wavefront")} at the least`;
  }
  function paintPrice() {
    const { found } = at, { told } = found, view = model.get("view");
    setText(degree, told === null ? "Not computed yet" : told.error ? (told.column || wrong.size ? "This cannot be computed" : "No warp can do this") : wayOf(told.degree));
    setText(paid, told === null ? python.computes ? "" : "Python must run for what is not recorded." : told.error ? "" : paidWords(found, view));
    for (const node of [words, othersHead, others, star, notes]) node.hidden = !found.runs;
    const { swizzle, padding_bytes: padding } = found.runs ? told.advice : {};
    take.hidden = !found.runs || swizzle === null || (!spec.paddings.includes(padding) && !python.computes);
    if (!found.runs) return;
    setText(take, padding ? `Pad by ${padding} bytes` : swizzle === "none" ? "Take no swizzle" : `Take ${swizzle}`);
    setText(words, told.advice.words);
    setText(notes, told.notes.join(" "));
    star.hidden = told.alternatives.every((one) => one.engine_writes);
    const deepest = Math.max(...told.alternatives.map(({ count }) => count ?? 0));
    others.replaceChildren(...told.alternatives.map((other) => alternative(other, deepest, view)));
  }
  function alternative(other, deepest, view) {
    const { swizzle, padding_bytes: padding, count, measured: seen, engine_writes: engine } = other;
    const here = swizzle === model.get("swizzle") && padding === model.get("padding");
    const value = view === "hardware" && seen ? seen.cycles : count ?? 0;
    const label = count === null ? "faults" : view === "hardware" && seen ? cycles(seen.cycles)
      : view === "difference" && seen ? `${count} foretold, ${seen.count} measured` : `${plural(count, "wavefront")}${view !== "model" && !seen ? ", model" : ""}`;
    const bar = h("i", { class: view === "model" || !seen ? "tma-foretold" : "", style: `width:${Math.max(1, (100 * value) / Math.max(deepest, value))}%` });
    return h("button", {
      type: "button", class: "tma-other", "aria-pressed": String(here), onclick: () => change({ swizzle, padding }),
    }, h("span", {}, layoutName(other), engine ? "" : "*"), h("span", { class: "tma-bar-place" }, bar), h("span", {}, label));
  }

  // --- the card -------------------------------------------------------------------------------------------------------

  const actions = {
    wave: (wave) => put(model, { wave }),
    step: (by) => actions.pick((model.get("lane") + by + LANES) % LANES),
    pick(lane) {
      pointed = null;
      put(model, { lane });
    },
    about(lane) {
      if (pointed === lane) return;
      pointed = lane;
      frame.light();
    },
  };
  const side = banks(spec.title, at, actions);
  const stage = h("div", { class: "tma-stage tma-cost" }, own, price, side.node);

  function paint() {
    for (const [name, { kept }] of wrong) {
      if (!python.computes || model.get(name) !== kept) wrong.delete(name); // it was set elsewhere
    }
    const before = at.found, wanted = at.wanted = seek();
    const waits = wanted.told === null && python.computes;
    if (waits) ask(wanted.question);
    at.found = waits && before.told !== null ? before : wanted;
    if (at.found.question !== before.question) pointed = null;
    paintOwn();
    side.paint();
    paintPrice();
  }
  const lane = () => pointed ?? at.found.lane;
  const natural = (text) => whole(text);
  const source = () => (at.found.measured ? line : NOT_MEASURED);
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: {
      dtype: spec.choices.dtype, rows: natural, row_bytes: natural, swizzle: spec.choices.swizzle, padding: natural, base: natural,
      access: spec.choices.access, width: spec.choices.width, edit: (text) => text, view: spec.choices.view, wave: natural,
      lane: (text) => (whole(text) < LANES ? whole(text) : undefined),
    },
    controls: [
      segments(model, "swizzle", "Swizzle", spec.choices.swizzle), chooser("access", "The warp reads", spec.choices.access, (value) => NAMES[value]), lanesMove,
      segments(model, "view", "View", spec.choices.view),
    ],
    stage, paint, provenance: source,
    light() {
      side.light(at.found.runs ? lane() : null);
      return new Set([lane()]);
    },
    sentence: () => sentence(at.found, lane(), gpu),
    data: () => dataOf(spec, state(), at.found, source()),
    table: () => ({ head: HEAD, rows: tableOf(at.found).map((cells, key) => ({ key, cells })) }),
  });
  python.onChange(() => frame.repaint());
  return () => {
    python.dispose();
    frame.dispose();
  };
}

function dataOf(spec, state, found, provenance) {
  const { told } = found;
  const kept = found.runs ? { degree: told.degree, wavefronts: told.waves, cycles: told.cycles, measured: told.measured, advice: told.advice.words } : { error: told?.error ?? null };
  return {
    schema: spec.schema, figure: spec.name, title: spec.title, state, ...kept, provenance,
    table: tableOf(found).map((cells) => Object.fromEntries(cells.map((text, i) => [HEAD[i], text]))),
  };
}

export default { render };
