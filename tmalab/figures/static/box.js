// The box explorer. What the box takes, and whether driver and engine allow it, comes from Python: with the page for the
// recorded places, from the kernel or a worker for any other (python.js). Here it is drawn, and the box is moved.
import { card, cellGrid, h, put, segments, setAttribute, setText } from "./kit.js";
import { pythonOf } from "./python.js";
import { HEAD, changedAt, count, elementAt, exists, indicesOf, left, lookUp, nearestPlace, nextPlace, planeExists, boxPosition, readEdit, readList, said, sentence, tableOf, tuple, verdict, windowOf, writeEdit } from "./box_words.js";

const TINTS = 8;
const MOST_DRAWN = 32; // columns, and rows, of the box in shared memory
const MOST_KEPT = 500; // answers
const CALL = "tmalab.checker.explore:explore_json";
const UNITS = { global_dim: "elements", global_strides: "bytes", box_dim: "elements" };
const NOT_MEASURED = "Model, not measured: there is no recording of this state.";

const whole = (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined);
const natural = (text) => (whole(text) >= 0 ? whole(text) : undefined);

function render({ model, el }) {
  const spec = model.get("spec");
  const { gpu, lines } = model.get("provenance");
  const names = ["example", "view", "coords", "base", "edit", "layer", "cell"];
  const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const answers = new Map();
  // `wanted` is the state that the reader has set, `found` the one that is drawn: until Python has answered, the last.
  let now = state(), wanted = lookUp(spec, now, answers), found = wanted;
  let pointed = null; // the element of the box under the pointer; else the picked one

  // --- asking Python --------------------------------------------------------------------------------------------------

  const python = pythonOf(model, CALL, found.question);
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

  // --- changing the state -------------------------------------------------------------------------------------------

  const clip = (value) => Math.min(Math.max(value, -1e6), 1e6);
  const goTo = (coords) => coords && put(model, { coords });
  function move(dim, step) {
    if (dim >= wanted.coords.length) return;
    if (python.computes) goTo(wanted.coords.map((value, i) => (i === dim ? clip(value + step) : value)));
    else goTo(nextPlace(wanted.example, wanted.coords, dim, step));
  }
  function change(fields) {
    const edit = writeEdit({ ...wanted.fields, ...fields });
    put(model, { coords: wanted.coords, edit: edit === writeEdit(wanted.example.fields) ? "" : edit });
  }
  function resize(dim, step) {
    if (python.computes && dim < wanted.fields.box_dim.length) {
      change({ box_dim: wanted.fields.box_dim.map((size, i) => (i === dim ? Math.max(size + step, 1) : size)) });
    }
  }

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

  // --- the two panels: what is encoded once, and what every copy names ------------------------------------------------

  const rows = new Map();
  function row(name, label, editor, read) {
    const value = h("code"), unit = h("small", {}, UNITS[name] ?? ""), mark = h("b", { class: "tma-mark", "aria-hidden": true });
    const node = h("div", { class: "tma-entry" }, h("span", {}, label), h("span", {}, value, editor, " ", unit), mark);
    rows.set(name, { node, value, editor, mark, read });
    return node;
  }
  function listEditor(name) {
    const input = h("input", {
      type: "text", inputmode: "numeric", autocomplete: "off", spellcheck: "false", "aria-label": name,
      onchange: () => {
        const list = readList(input.value);
        const fits = list?.length === found.fields[name].length;
        setAttribute(input, "aria-invalid", fits ? null : true);
        if (fits) change({ [name]: list });
      },
    });
    return input;
  }
  function wordEditor(name) {
    const select = h("select", { "aria-label": name, onchange: () => change({ [name]: select.value }) }, ...spec.words[name].map((word) => h("option", {}, word)));
    return select;
  }
  const shownList = (name) => found.fields[name].join(", ");
  const mapRows = [
    row("dtype", "dtype", wordEditor("dtype"), () => found.fields.dtype),
    ...["global_dim", "global_strides", "box_dim", "element_strides"].map((name) => row(name, name, listEditor(name), () => shownList(name))),
    row("swizzle", "swizzle", wordEditor("swizzle"), () => found.fields.swizzle),
    row("oob_fill", "oob_fill", wordEditor("oob_fill"), () => found.fields.oob_fill),
  ];
  const base = h("input", {
    type: "number", min: 0, step: 128, "aria-label": "destination: shared address",
    onchange: () => natural(input(base)) !== undefined && put(model, { base: natural(input(base)) }),
  });
  const input = (node) => node.value.trim();
  const steppers = h("div", { class: "tma-coords" });
  const destination = row("smem_base", "destination", base, () => String(found.base));
  rows.get("smem_base").node.querySelector("small").textContent = "shared byte";
  const barrier = h("code"), instruction = h("code", { class: "tma-ptx" });
  const mapNote = h("small"), copyNote = h("small");
  const panel = (title, note, ...content) => h("div", { class: "tma-panel" }, h("p", { class: "tma-head" }, h("b", {}, title), " ", note), ...content);
  const operands = panel("Instruction", copyNote, instruction, steppers, destination,
    h("div", { class: "tma-entry" }, h("span", {}, "barrier"), h("span", {}, barrier)));

  operands.classList.add("tma-operands");

  let dims = []; // of the steppers
  function paintSteppers() {
    const { coords, example } = wanted;
    if (dims.length !== coords.length) {
      dims = coords.map((_, dim) => {
        const value = h("input", {
          type: "number", step: 1, "aria-label": `coords[${dim}]`,
          onchange: () => {
            const typed = whole(input(value));
            if (typed === undefined) return;
            const typedIn = wanted.coords.map((one, i) => (i === dim ? clip(typed) : one));
            goTo(python.computes ? typedIn : nearestPlace(wanted.example, typedIn));
            value.value = wanted.coords[dim];
          },
        });
        const step = (by, sign, word) => h("button", { type: "button", "aria-label": `${word} coords[${dim}]`, onclick: () => move(dim, by) }, sign);
        const less = step(-1, "−", "decrease"), more = step(1, "+", "increase");
        const mark = h("b", { class: "tma-mark", "aria-hidden": true });
        return { node: h("div", { class: "tma-entry" }, h("span", {}, `coords[${dim}]`), h("span", { class: "tma-stepper" }, less, value, more), mark), value, less, more, mark };
      });
      steppers.replaceChildren(...dims.map(({ node }) => node));
    }
    dims.forEach(({ value, less, more }, dim) => {
      if (value.value !== String(coords[dim])) value.value = coords[dim];
      less.disabled = !python.computes && !nextPlace(example, coords, dim, -1);
      more.disabled = !python.computes && !nextPlace(example, coords, dim, 1);
    });
  }
  function paintFields() {
    for (const { value, editor, read } of rows.values()) {
      setText(value, read());
      value.hidden = python.computes;
      editor.hidden = !python.computes;
      if (editor !== document.activeElement) editor.value = read();
      setAttribute(editor, "aria-invalid", null);
    }
    const broken = [...(found.told?.violations ?? []), ...(found.told?.faults ?? [])].map(({ field }) => field);
    const flag = (name, { node, mark }) => {
      const wrong = broken.some((field) => field === name || (!name.includes("[") && field.startsWith(name + "[")));
      setText(mark, wrong ? "✗" : "");
      node.classList.toggle("tma-bad", wrong);
    };
    rows.forEach((one, name) => flag(name, one));
    dims.forEach((one, dim) => flag(`coords[${dim}]`, one));
    const rank = found.coords.length, places = Object.keys(found.example.copies).length;
    setText(mapNote, found.told?.verdict === "refused" ? "the driver refuses to encode it"
      : now.edit || places < 2 ? "encoded once, 128 bytes" : `encoded once, 128 bytes for all ${places} places`);
    setText(copyNote, "every copy names its own");
    setText(instruction, `cp.async.bulk.tensor.${rank}d [destination], [map, {${found.coords.join(", ")}}], [barrier]`);
    const bytes = found.told?.transaction_bytes;
    setText(barrier, bytes === null || bytes === undefined ? "–" : `expects ${bytes} bytes`);
  }

  // --- the tensor, and the box over it --------------------------------------------------------------------------------

  const field = h("div", { class: "tma-units" }), labels = h("div", { class: "tma-labels", "aria-hidden": true });
  const extent = h("div", { class: "tma-extent" });
  const corner = h("div", { class: "tma-corner" });
  const box = h("div", { class: "tma-box", tabindex: 0, role: "application", "aria-roledescription": "box" }, corner);
  const space = h("div", { class: "tma-space" }, field, box); // the box stays where it is: moved, it would lose the focus
  const planeNote = h("small"), layers = h("span", { class: "tma-stepper tma-layers" });
  const layerButton = (by, sign, word) => h("button", {
    type: "button", "aria-label": word,
    onclick: () => put(model, { layer: Math.min(Math.max(Math.min(now.layer, found.layers - 1) + by, 0), found.layers - 1) }),
  }, sign);
  const [back, on] = [layerButton(-1, "−", "previous layer of the box"), layerButton(1, "+", "next layer of the box")];
  const layerText = h("span");
  layers.append(back, layerText, on);

  let drawn = null, units = [], drag = null;
  function build(view) {
    if (drawn && ["left", "top", "cols", "rows", "cells"].every((name) => drawn[name] === view[name])) return;
    drawn = view;
    units = view.cells ? Array.from({ length: view.cols * view.rows }, () => h("div", { class: "tma-unit" })) : [];
    space.style.setProperty("--cols", view.cols);
    space.style.setProperty("--rows", view.rows);
    space.classList.toggle("tma-scaled", !view.cells);
    field.replaceChildren(...(view.cells ? units : [extent]));
    labels.replaceChildren(...(view.cells ? Array.from({ length: view.rows }, () => h("span")) : []));
    labels.style.setProperty("--rows", view.rows);
  }
  const percent = (value) => `${Math.round(value * 1e4) / 100}%`;
  function lay(node, x, y, width, height) {
    Object.assign(node.style, {
      left: percent((x - drawn.left) / drawn.cols), top: percent((y - drawn.top) / drawn.rows),
      width: percent(width / drawn.cols), height: percent(height / drawn.rows),
    });
  }
  function paintSpace() {
    build(drag ? drawn : windowOf(found)); // under the reader's hand the scale stays
    const [columns, tall = 1] = found.fields.global_dim, [wide, high = 1] = found.fields.box_dim;
    const there = !found.runs || planeExists(found, found.first);
    const faded = now.view === "difference" && found.measured;
    units.forEach((unit, at) => {
      const x = drawn.left + (at % drawn.cols), y = drawn.top + Math.floor(at / drawn.cols);
      const tensor = there && x >= 0 && x < columns && y >= 0 && y < tall;
      const element = found.runs ? elementAt(found, x, y) : -1;
      const changed = element >= 0 && now.view !== "model" && changedAt(found, element);
      const kind = element < 0 ? (tensor ? " tma-in" : "") : changed ? " tma-wrong" : !tensor ? " tma-fill" : faded ? " tma-equal" : " tma-taken";
      setAttribute(unit, "class", `tma-unit${kind}`);
      setAttribute(unit, "style", tensor && element >= 0 && !faded ? tintOf(x) : null);
      setText(unit, element < 0 ? "" : tensor ? String(x) : found.told.fill === "0" ? "0" : "N");
    });
    [...labels.children].forEach((label, i) => setText(label, there && i + drawn.top >= 0 && i + drawn.top < tall ? String(i + drawn.top) : ""));
    if (!drawn.cells) lay(extent, 0, 0, columns, tall);
    lay(box, found.coords[0], found.coords[1] ?? 0, wide, high);
    box.classList.toggle("tma-bad", found.told !== null && found.told.verdict !== "runs");
    corner.hidden = !python.computes;
    setAttribute(box, "aria-label", `Box at ${tuple(found.coords)} of ${wide} by ${high}. Arrow keys move it${python.computes ? ", with Shift they resize it" : " among the recorded places"}.`);
    const outer = found.runs ? indicesOf(found, found.first).slice(2) : found.coords.slice(2);
    setText(planeNote, outer.length ? `plane ${tuple(["·", "·", ...outer])}${there ? "" : ", outside"}` : `${columns} × ${tall} ${found.fields.dtype}`);
    layers.hidden = found.layers < 2;
    const layer = Math.min(now.layer, found.layers - 1);
    setText(layerText, `${layer + 1} of ${found.layers}`);
    back.disabled = layer === 0;
    on.disabled = layer === found.layers - 1;
  }
  const tintOf = (column) => `--tint:var(--tma-c${(((Math.floor(column / found.told.chunk_elements)) % TINTS) + TINTS) % TINTS})`;

  const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1], PageUp: [2, -1], PageDown: [2, 1] };
  box.addEventListener("keydown", (event) => {
    const [dim, step] = KEYS[event.key] ?? [];
    if (dim === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey) resize(dim, step);
    else move(dim, step);
  });
  const spot = (event) => {
    const { left: x, top: y, width, height } = space.getBoundingClientRect();
    return [(event.clientX - x) / (width / drawn.cols), (event.clientY - y) / (height / drawn.rows)];
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    box.focus({ preventScroll: true });
    box.setPointerCapture(event.pointerId);
    drag = { from: spot(event), coords: wanted.coords, sizes: wanted.fields.box_dim, corner: event.target === corner };
  });
  box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = spot(event).map((value, dim) => Math.round(value - drag.from[dim]));
    if (drag.corner) {
      const box_dim = drag.sizes.map((size, dim) => Math.max(size + (by[dim] ?? 0), 1));
      if (String(box_dim) !== String(wanted.fields.box_dim)) change({ box_dim });
      return;
    }
    const target = drag.coords.map((value, dim) => clip(value + (by[dim] ?? 0)));
    const coords = python.computes ? target : nearestPlace(wanted.example, target);
    if (String(coords) !== String(wanted.coords)) goTo(coords);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      drag = null;
      frame.repaint(); // the window may grow now
    });
  }
  space.addEventListener("pointermove", (event) => {
    if (drag || !found.runs) return;
    const [x, y] = spot(event).map(Math.floor);
    const element = elementAt(found, drawn.left + x, drawn.top + y);
    about(element < 0 ? null : element);
  });
  space.addEventListener("pointerleave", () => about(null));

  // --- shared memory --------------------------------------------------------------------------------------------------

  const sharedNote = h("small"), holder = h("div", { class: "tma-held" });
  let grid = null;
  const drawable = () => found.runs && found.width <= MOST_DRAWN && found.height <= MOST_DRAWN;
  const elementOf = (at) => found.first + at;
  const about = (element) => {
    if (pointed === element) return;
    pointed = element;
    frame.light();
  };
  const pick = (at) => {
    pointed = null;
    put(model, { cell: at });
  };
  function paintShared() {
    if (!drawable()) {
      grid = null;
      holder.replaceChildren(h("p", { class: "tma-key" }, found.told === null ? "Not computed yet." : found.told.verdict === "runs" ? "Too many elements to draw." : "Nothing is copied."));
    } else if (!grid || grid.cols !== found.width || grid.rows !== found.height) {
      const made = cellGrid({
        label: `${spec.title}: shared memory`, rows: found.height, cols: found.width,
        onPoint: (at) => about(at === null ? null : elementOf(at)), onPick: pick,
      });
      grid = Object.assign(made, { cols: found.width, rows: found.height });
      holder.replaceChildren(made.node);
      holder.style.setProperty("--cols", found.width);
    }
    stage.classList.toggle("tma-broad", drawable() && found.width > 12);
    const differs = found.measured && found.told.differing > 0;
    setText(sharedNote, !found.runs ? "" : !found.measured ? (now.view === "model" ? "as the model predicts it" : "model, not measured")
      : now.view === "model" ? "as the model predicts it" : now.view === "difference" || differs ? count(found) : `as the ${gpu} left it`);
    sharedNote.classList.toggle("tma-unmeasured", found.runs && !found.measured && now.view !== "model");
    grid?.cells.forEach((node, at) => {
      const element = elementOf(at), changed = now.view !== "model" && found.measured && changedAt(found, element);
      const inside = exists(found, element), column = indicesOf(found, element)[0];
      const faded = now.view === "difference" && found.measured && !changed;
      setAttribute(node, "class", `tma-cell${changed ? " tma-wrong" : faded ? " tma-equal" : inside ? "" : " tma-fill"}`);
      setAttribute(node, "style", inside && !faded && !changed ? tintOf(column) : null);
      const main = changed ? changed.hex : inside ? String(column) : found.told.fill;
      const small = changed ? "diff" : String(found.told.shared[element]);
      setText(node.firstChild, main);
      setText(node.lastChild, small);
      setAttribute(node, "aria-label", `${main} ${small}, box element ${tuple(boxPosition(found, element))}: ${now.view === "model" || !found.measured ? said(found, element) : left(found, element)}`);
    });
    grid?.setStop(found.singled - found.first);
  }

  const verdicts = h("ul", { class: "tma-verdicts" });
  const rulesAt = !model.place ? null : model.place.page ? "" : document.body.classList.contains("figure-page") ? "../chapters/" : null;
  function paintVerdict() {
    const { told } = found;
    if (told === null || told.error) return verdicts.replaceChildren(h("li", {}, told?.error ?? "This state is not among the recorded ones."));
    const line = (mark, word, one) => h("li", {}, h("b", {}, mark), ` ${word}${one.message} ${one.fix}`,
      ...(rulesAt === null ? [] : [" ", h("a", { href: `${rulesAt}${spec.rules}${one.rule}` }, one.rule)]));
    const broken = [...told.violations.map((one) => line("✗", "Driver: ", one)), ...told.faults.map((one) => line("✗", "Engine: ", one))];
    verdicts.replaceChildren(
      ...(broken.length ? broken : [h("li", {}, h("b", {}, "✓"), ` ${verdict(found)[0]}`)]),
      ...told.warnings.map((one) => line("!", "Legal, but: ", one)));
  }

  const stage = h("div", { class: "tma-stage tma-explorer" },
    panel("Tensor map", mapNote, ...mapRows), operands,
    h("div", { class: "tma-global" }, h("p", { class: "tma-head" }, h("b", {}, "Global memory"), " ", planeNote, " ", layers),
      h("div", { class: "tma-plot" }, labels, space)),
    h("div", { class: "tma-arrived" }, h("p", { class: "tma-head" }, h("b", {}, "Shared memory"), " ", sharedNote), holder,
      h("p", { class: "tma-key" }, "One cell = one element: its column, below it its byte. Hatched: outside the tensor")),
    verdicts);

  function light() {
    const element = pointed ?? found.singled;
    const hot = found.runs && element >= found.first && element < found.first + found.plane ? element : -1;
    const [x, y = 0] = hot >= 0 ? indicesOf(found, hot) : [];
    units.forEach((unit, at) => {
      const here = hot >= 0 && drawn.left + (at % drawn.cols) === x && drawn.top + Math.floor(at / drawn.cols) === y;
      unit.classList.toggle("tma-hot", here);
    });
    grid?.cells.forEach((node, at) => node.classList.toggle("tma-hot", elementOf(at) === hot));
    return new Set(hot >= 0 ? [hot] : []);
  }

  function paint() {
    const before = found;
    now = state();
    wanted = lookUp(spec, now, answers);
    const waits = wanted.told === null && python.computes;
    if (waits) ask(wanted.question);
    found = waits && before.told !== null && before.example === wanted.example ? before : wanted;
    if (found.question !== before.question) pointed = null;
    paintSteppers();
    paintFields();
    paintSpace();
    paintShared();
    paintVerdict();
  }

  const source = () => (found.measured ? lines[found.told.line] : NOT_MEASURED);
  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: {
      ...spec.choices, coords: (text) => readList(text) ?? undefined,
      base: natural, edit: (text) => (text === "" || readEdit(text) ? text : undefined), layer: natural, cell: natural,
    },
    controls: [chooser(), segments(model, "view", "View", spec.choices.view), loader()],
    stage, paint, light, provenance: source,
    sentence: () => sentence(found, pointed ?? found.singled, gpu),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: { ...now, coords: found.coords }, tensor_map: found.fields,
      verdict: found.told ? verdict(found) : [], transaction_bytes: found.told?.transaction_bytes ?? null, provenance: source(),
      table: tableOf(found).map((cells) => Object.fromEntries(cells.map((text, i) => [HEAD[i], text]))),
    }),
    table: () => ({ head: HEAD, rows: tableOf(found).map((cells, key) => ({ key, cells })) }),
  });
  python.onChange(() => frame.repaint());
  return () => {
    python.dispose();
    frame.dispose();
  };
}

export default { render };
