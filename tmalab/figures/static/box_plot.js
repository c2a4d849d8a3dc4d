// The tensor of the box explorer, and the box over it: dragged, moved by the arrow keys, resized at its corner.
import { h, setAttribute, setText } from "./kit.js";
import { changedAt, elementAt, indicesOf, planeExists, tintOf, tuple, windowOf } from "./box_words.js";

// `at` and `actions` as for the panels.
export function plot(at, actions) {
  const field = h("div", { class: "tma-units" }), labels = h("div", { class: "tma-labels", "aria-hidden": true });
  const extent = h("div", { class: "tma-extent" });
  const corner = h("div", { class: "tma-corner" });
  const box = h("div", { class: "tma-box", tabindex: 0, role: "application", "aria-roledescription": "box" }, corner);
  const space = h("div", { class: "tma-space" }, field, box); // the box stays where it is: moved, it would lose the focus
  const planeNote = h("small"), layers = h("span", { class: "tma-stepper tma-layers" });
  const layerButton = (by, sign, word) => h("button", {
    type: "button", "aria-label": word,
    onclick: () => actions.put({ layer: Math.min(Math.max(Math.min(at.now.layer, at.found.layers - 1) + by, 0), at.found.layers - 1) }),
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
    const { now, found } = at;
    build(drag ? drawn : windowOf(found)); // under the reader's hand the scale stays
    const [columns, tall = 1] = found.fields.global_dim, [wide, high = 1] = found.fields.box_dim;
    const there = !found.runs || planeExists(found, found.first);
    const faded = now.view === "difference" && found.measured;
    units.forEach((unit, i) => {
      const x = drawn.left + (i % drawn.cols), y = drawn.top + Math.floor(i / drawn.cols);
      const tensor = there && x >= 0 && x < columns && y >= 0 && y < tall;
      const element = found.runs ? elementAt(found, x, y) : -1;
      const changed = element >= 0 && now.view !== "model" && changedAt(found, element);
      const kind = element < 0 ? (tensor ? " tma-in" : "") : changed ? " tma-wrong" : !tensor ? " tma-fill" : faded ? " tma-equal" : " tma-taken";
      setAttribute(unit, "class", `tma-unit${kind}`);
      setAttribute(unit, "style", tensor && element >= 0 && !faded ? tintOf(found, x) : null);
      setText(unit, element < 0 ? "" : tensor ? String(x) : found.told.fill === "0" ? "0" : "N");
    });
    [...labels.children].forEach((label, i) => setText(label, there && i + drawn.top >= 0 && i + drawn.top < tall ? String(i + drawn.top) : ""));
    if (!drawn.cells) lay(extent, 0, 0, columns, tall);
    lay(box, found.coords[0], found.coords[1] ?? 0, wide, high);
    box.classList.toggle("tma-bad", found.told !== null && found.told.verdict !== "runs");
    corner.hidden = !at.computes;
    setAttribute(box, "aria-label", `Box at ${tuple(found.coords)} of ${wide} by ${high}. Arrow keys move it${at.computes ? ", with Shift they resize it" : " among the recorded places"}.`);
    const outer = found.runs ? indicesOf(found, found.first).slice(2) : found.coords.slice(2);
    setText(planeNote, outer.length ? `plane ${tuple(["·", "·", ...outer])}${there ? "" : ", outside"}` : `${columns} × ${tall} ${found.fields.dtype}`);
    layers.hidden = found.layers < 2;
    const layer = Math.min(now.layer, found.layers - 1);
    setText(layerText, `${layer + 1} of ${found.layers}`);
    back.disabled = layer === 0;
    on.disabled = layer === found.layers - 1;
  }

  const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1], PageUp: [2, -1], PageDown: [2, 1] };
  box.addEventListener("keydown", (event) => {
    const [dim, step] = KEYS[event.key] ?? [];
    if (dim === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey) actions.resize(dim, step);
    else actions.move(dim, step);
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
    drag = { from: spot(event), coords: at.wanted.coords, sizes: at.wanted.fields.box_dim, corner: event.target === corner };
  });
  box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = spot(event).map((value, dim) => Math.round(value - drag.from[dim]));
    if (drag.corner) {
      const box_dim = drag.sizes.map((size, dim) => Math.max(size + (by[dim] ?? 0), 1));
      if (String(box_dim) !== String(at.wanted.fields.box_dim)) actions.change({ box_dim });
      return;
    }
    actions.place(drag.coords.map((value, dim) => value + (by[dim] ?? 0)));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      drag = null;
      actions.repaint(); // the window may grow now
    });
  }
  space.addEventListener("pointermove", (event) => {
    if (drag || !at.found.runs) return;
    const [x, y] = spot(event).map(Math.floor);
    const element = elementAt(at.found, drawn.left + x, drawn.top + y);
    actions.about(element < 0 ? null : element);
  });
  space.addEventListener("pointerleave", () => actions.about(null));

  return {
    node: h("div", { class: "tma-global" }, h("p", { class: "tma-head" }, h("b", {}, "Global memory"), " ", planeNote, " ", layers),
      h("div", { class: "tma-plot" }, labels, space)),
    paint: paintSpace,
    light(x, y) { // the element of the plane that is singled out; none without arguments
      units.forEach((unit, i) => unit.classList.toggle("tma-hot", drawn.left + (i % drawn.cols) === x && drawn.top + Math.floor(i / drawn.cols) === y));
    },
  };
}
