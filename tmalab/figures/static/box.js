// The box explorer. What the box takes, and whether driver and engine allow it, comes from Python: with the page for the
// recorded places, from the kernel or a worker for any other (python.js). Here it is drawn, and the box is moved.
import { card, cellGrid, h, put, segments, setAttribute, setText } from "./kit.js";
import { pythonOf } from "./python.js";
import { HEAD, boxPosition, changedAt, count, exists, indicesOf, left, lookUp, natural, nearestPlace, nextPlace, readEdit, readList, said, sentence, tableOf, tintOf, tuple, verdict, writeEdit } from "./box_words.js";
import { panels } from "./box_panels.js";
import { plot } from "./box_plot.js";

const MOST_DRAWN = 32; // columns, and rows, of the box in shared memory
const MOST_KEPT = 500; // answers
const CALL = "tmalab.checker.explore:explore_json";
const NOT_MEASURED = "Model, not measured: there is no recording of this state.";

function render({ model, el }) {
  const spec = model.get("spec");
  const { gpu, lines } = model.get("provenance");
  const names = ["example", "view", "coords", "base", "edit", "layer", "cell"];
  const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const answers = new Map();
  // `wanted` is the state that the reader has set, `found` the one that is drawn: until Python has answered, the last.
  const at = { now: state(), wanted: null, found: null, get computes() { return python.computes; } };
  at.found = at.wanted = lookUp(spec, at.now, answers);
  let pointed = null; // the element of the box under the pointer; else the picked one

  // --- asking Python --------------------------------------------------------------------------------------------------

  const python = pythonOf(model, CALL, at.found.question);
  let asking = null, next = null;
  function ask(question) {
    if (asking !== null) return void (next = question); // one at a time; of those that come meanwhile, the last
    asking = question;
    python.ask(question).catch((error) => ({ error: String(error.message ?? error) })).then((answer) => {
      if (answers.size > MOST_KEPT) answers.clear();
      answers.set(question, answer.error ? { error: answer.error, verdict: "error", shared: null, line: -1 } : { ...answer, line: -1 });
      asking = null;
      if (next !== null && !answers.has(next)) ask(next);
      next = null;
      frame.repaint();
    });
  }

  // --- changing the state ---------------------------------------------------------------------------------------------

  const clip = (value) => Math.min(Math.max(value, -1e6), 1e6);
  const goTo = (coords) => coords && String(coords) !== String(at.wanted.coords) && put(model, { coords });
  const actions = {
    put: (values) => put(model, values),
    repaint: () => frame.repaint(),
    about(element) {
      if (pointed === element) return;
      pointed = element;
      frame.light();
    },
    place: (coords) => goTo(python.computes ? coords.map(clip) : nearestPlace(at.wanted.example, coords)),
    move(dim, step) {
      const { coords, example } = at.wanted;
      if (dim >= coords.length) return;
      goTo(python.computes ? coords.map((value, i) => (i === dim ? clip(value + step) : value)) : nextPlace(example, coords, dim, step));
    },
    change(fields) {
      const edit = writeEdit({ ...at.wanted.fields, ...fields });
      put(model, { coords: at.wanted.coords, edit: edit === writeEdit(at.wanted.example.fields) ? "" : edit });
    },
    resize(dim, step) {
      const { box_dim } = at.wanted.fields;
      if (python.computes && dim < box_dim.length) {
        actions.change({ box_dim: box_dim.map((size, i) => (i === dim ? Math.max(size + step, 1) : size)) });
      }
    },
  };

  // --- controls -----------------------------------------------------------------------------------------------------

  function chooser() {
    const options = spec.examples.map(({ name, label }) => h("option", { value: name }, label));
    const select = h("select", {
      onchange: () => put(model, { edit: "", base: 0, layer: 0, example: select.value, coords: [] }),
    }, ...options);
    return { node: h("label", { class: "tma-field" }, h("span", { class: "tma-legend" }, "Example"), select), paint: () => (select.value = model.get("example")) };
  }
  function loader() {
    const button = h("button", { type: "button", class: "tma-button", onclick: () => python.start() });
    const note = h("span", { class: "tma-legend", role: "status" });
    const reset = h("button", { type: "button", class: "tma-button", onclick: () => put(model, { edit: "", base: 0, coords: [] }) }, "As it was");
    const paint = () => {
      button.hidden = !["off", "loading", "failed"].includes(python.state);
      button.disabled = python.state === "loading";
      reset.hidden = !model.get("edit") && !model.get("base");
      setText(button, python.state === "failed" ? "Try again" : "Let me change it");
      setText(note, python.why);
    };
    return { node: h("div", { class: "tma-field tma-loader" }, note, h("span", {}, button, " ", reset)), paint };
  }

  // --- shared memory --------------------------------------------------------------------------------------------------

  const sharedNote = h("small"), holder = h("div", { class: "tma-held" });
  let grid = null;
  const drawable = ({ runs, width, height }) => runs && width <= MOST_DRAWN && height <= MOST_DRAWN;
  function buildGrid() {
    const { found } = at;
    const why = found.told === null ? "Not computed yet." : found.told.verdict === "runs" ? "Too many elements to draw." : "Nothing is copied.";
    if (!drawable(found)) {
      grid = null;
      holder.replaceChildren(h("p", { class: "tma-key" }, why));
    } else if (!grid || grid.cols !== found.width || grid.rows !== found.height) {
      const made = cellGrid({
        label: `${spec.title}: shared memory`, rows: found.height, cols: found.width,
        onPoint: (cell) => actions.about(cell === null ? null : at.found.first + cell),
        onPick: (cell) => {
          pointed = null;
          put(model, { cell });
        },
      });
      grid = Object.assign(made, { cols: found.width, rows: found.height });
      holder.replaceChildren(made.node);
      holder.style.setProperty("--cols", found.width);
    }
  }
  function paintShared() {
    const { found, now: { view } } = at;
    buildGrid();
    stage.classList.toggle("tma-broad", drawable(found) && found.width > 12);
    const measured = found.measured && view !== "model";
    const note = view === "model" ? "as the model predicts it" : !measured ? "model, not measured"
      : view === "difference" || found.told.differing > 0 ? count(found) : `as the ${gpu} left it`;
    setText(sharedNote, found.runs ? note : "");
    sharedNote.classList.toggle("tma-unmeasured", found.runs && !found.measured && view !== "model");
    grid?.cells.forEach((node, cell) => {
      const element = found.first + cell, changed = measured && changedAt(found, element);
      const inside = exists(found, element), column = indicesOf(found, element)[0];
      const faded = view === "difference" && measured && !changed;
      setAttribute(node, "class", `tma-cell${changed ? " tma-wrong" : faded ? " tma-equal" : inside ? "" : " tma-fill"}`);
      setAttribute(node, "style", inside && !faded && !changed ? tintOf(found, column) : null);
      const main = changed ? changed.hex : inside ? String(column) : found.told.fill;
      const small = changed ? "diff" : String(found.told.shared[element]);
      setText(node.firstChild, main);
      setText(node.lastChild, small);
      const holds = measured ? left(found, element) : said(found, element);
      setAttribute(node, "aria-label", `${main} ${small}, box element ${tuple(boxPosition(found, element))}: ${holds}`);
    });
    grid?.setStop(found.singled - found.first);
  }

  // --- the verdict ----------------------------------------------------------------------------------------------------

  const verdicts = h("ul", { class: "tma-verdicts" });
  const rulesAt = !model.place ? null : model.place.page ? "" : document.body.classList.contains("figure-page") ? "../chapters/" : null;
  function paintVerdict() {
    const { told } = at.found;
    if (told === null || told.error) return verdicts.replaceChildren(h("li", {}, told?.error ?? "This state is not among the recorded ones."));
    const line = (mark, word, one) => h("li", {}, h("b", {}, mark), ` ${word}${one.message} ${one.fix}`,
      ...(rulesAt === null ? [] : [" ", h("a", { href: `${rulesAt}${spec.rules}${one.rule}` }, one.rule)]));
    const broken = [...told.violations.map((one) => line("✗", "Driver: ", one)), ...told.faults.map((one) => line("✗", "Engine: ", one))];
    verdicts.replaceChildren(
      ...(broken.length ? broken : [h("li", {}, h("b", {}, "✓"), ` ${verdict(at.found)[0]}`)]),
      ...told.warnings.map((one) => line("!", "Legal, but: ", one)));
  }

  // --- the card -------------------------------------------------------------------------------------------------------

  const sides = panels(spec, at, actions), tensor = plot(at, actions);
  const stage = h("div", { class: "tma-stage tma-explorer" }, ...sides.nodes, tensor.node,
    h("div", { class: "tma-arrived" }, h("p", { class: "tma-head" }, h("b", {}, "Shared memory"), " ", sharedNote), holder,
      h("p", { class: "tma-key" }, "One cell = one element: its column, below it its byte. Hatched: outside the tensor")),
    verdicts);

  function light() {
    const { found } = at, element = pointed ?? found.singled;
    const hot = found.runs && element >= found.first && element < found.first + found.plane ? element : -1;
    const [x, y = 0] = hot >= 0 ? indicesOf(found, hot) : [];
    tensor.light(x, y);
    grid?.cells.forEach((node, cell) => node.classList.toggle("tma-hot", found.first + cell === hot));
    return new Set(hot >= 0 ? [hot] : []);
  }

  function paint() {
    const before = at.found;
    at.now = state();
    const wanted = at.wanted = lookUp(spec, at.now, answers);
    const waits = wanted.told === null && python.computes;
    if (waits) ask(wanted.question);
    at.found = waits && before.told !== null && before.example === wanted.example ? before : wanted;
    if (at.found.question !== before.question) pointed = null;
    sides.paint();
    tensor.paint();
    paintShared();
    paintVerdict();
  }

  const source = () => (at.found.measured ? lines[at.found.told.line] : NOT_MEASURED);
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: {
      ...spec.choices, coords: (text) => readList(text) ?? undefined, base: natural,
      edit: (text) => (text === "" || readEdit(text) ? text : undefined), layer: natural, cell: natural,
    },
    controls: [chooser(), segments(model, "view", "View", spec.choices.view), loader()],
    stage, paint, light, provenance: source,
    sentence: () => sentence(at.found, pointed ?? at.found.singled, gpu),
    data: () => dataOf(spec, at, source()),
    table: () => ({ head: HEAD, rows: tableOf(at.found).map((cells, key) => ({ key, cells })) }),
  });
  python.onChange(() => frame.repaint());
  return () => {
    python.dispose();
    frame.dispose();
  };
}

function dataOf(spec, { now, found }, provenance) {
  return {
    schema: spec.schema, figure: spec.name, title: spec.title, state: { ...now, coords: found.coords }, tensor_map: found.fields,
    verdict: found.told ? verdict(found) : [], transaction_bytes: found.told?.transaction_bytes ?? null, provenance,
    table: tableOf(found).map((cells) => Object.fromEntries(cells.map((text, i) => [HEAD[i], text]))),
  };
}

export default { render };
