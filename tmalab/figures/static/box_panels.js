// The two panels of the box explorer: the fields of the map, encoded once, and the operands that every copy names. They
// are read out; where Python computes, they are typed and chosen too.
import { h, setAttribute, setText } from "./kit.js";
import { natural, nextPlace, readList, whole } from "./box_words.js";

const UNITS = { global_dim: "elements", global_strides: "bytes", box_dim: "elements" };

// `at` holds the state: now, wanted, found (see box.js) and whether Python computes. `actions` change it.
export function panels(spec, at, actions) {
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
        const fits = list?.length === at.found.fields[name].length;
        setAttribute(input, "aria-invalid", fits ? null : true);
        if (fits) actions.change({ [name]: list });
      },
    });
    return input;
  }
  function wordEditor(name) {
    const select = h("select", { "aria-label": name, onchange: () => actions.change({ [name]: select.value }) }, ...spec.words[name].map((word) => h("option", {}, word)));
    return select;
  }
  const shownList = (name) => at.found.fields[name].join(", ");
  const mapRows = [
    row("dtype", "dtype", wordEditor("dtype"), () => at.found.fields.dtype),
    ...["global_dim", "global_strides", "box_dim", "element_strides"].map((name) => row(name, name, listEditor(name), () => shownList(name))),
    row("swizzle", "swizzle", wordEditor("swizzle"), () => at.found.fields.swizzle),
    row("oob_fill", "oob_fill", wordEditor("oob_fill"), () => at.found.fields.oob_fill),
  ];
  const base = h("input", {
    type: "number", min: 0, step: 128, "aria-label": "destination: shared address",
    onchange: () => natural(input(base)) !== undefined && actions.put({ base: natural(input(base)) }),
  });
  const input = (node) => node.value.trim();
  const steppers = h("div", { class: "tma-coords" });
  const destination = row("smem_base", "destination", base, () => String(at.found.base));
  rows.get("smem_base").node.querySelector("small").textContent = "shared byte";
  const barrier = h("code"), instruction = h("code", { class: "tma-ptx" });
  const mapNote = h("small"), copyNote = h("small");
  const panel = (title, note, ...content) => h("div", { class: "tma-panel" }, h("p", { class: "tma-head" }, h("b", {}, title), " ", note), ...content);
  const map = panel("Tensor map", mapNote, ...mapRows);
  const operands = panel("Instruction", copyNote, instruction, steppers, destination,
    h("div", { class: "tma-entry" }, h("span", {}, "barrier"), h("span", {}, barrier)));
  operands.classList.add("tma-operands");

  let dims = []; // of the steppers
  function paintSteppers() {
    const { coords, example } = at.wanted;
    if (dims.length !== coords.length) {
      dims = coords.map((_, dim) => {
        const value = h("input", {
          type: "number", step: 1, "aria-label": `coords[${dim}]`,
          onchange: () => {
            const typed = whole(input(value));
            if (typed === undefined) return;
            actions.place(at.wanted.coords.map((one, i) => (i === dim ? typed : one)));
            value.value = at.wanted.coords[dim];
          },
        });
        const step = (by, sign, word) => h("button", { type: "button", "aria-label": `${word} coords[${dim}]`, onclick: () => actions.move(dim, by) }, sign);
        const less = step(-1, "−", "decrease"), more = step(1, "+", "increase");
        const mark = h("b", { class: "tma-mark", "aria-hidden": true });
        return { node: h("div", { class: "tma-entry" }, h("span", {}, `coords[${dim}]`), h("span", { class: "tma-stepper" }, less, value, more), mark), value, less, more, mark };
      });
      steppers.replaceChildren(...dims.map(({ node }) => node));
    }
    dims.forEach(({ value, less, more }, dim) => {
      if (value !== document.activeElement) value.value = coords[dim]; // an answer may come while the reader types
      less.disabled = !at.computes && !nextPlace(example, coords, dim, -1);
      more.disabled = !at.computes && !nextPlace(example, coords, dim, 1);
    });
  }
  function paintFields() {
    for (const { value, editor, read } of rows.values()) {
      setText(value, read());
      value.hidden = at.computes;
      editor.hidden = !at.computes;
      if (editor !== document.activeElement) editor.value = read();
      setAttribute(editor, "aria-invalid", null);
    }
    const broken = [...(at.found.told?.violations ?? []), ...(at.found.told?.faults ?? [])].map(({ field }) => field);
    const flag = (name, { node, mark }) => {
      const wrong = broken.some((field) => field === name || (!name.includes("[") && field.startsWith(name + "[")));
      setText(mark, wrong ? "✗" : "");
      node.classList.toggle("tma-bad", wrong);
    };
    rows.forEach((one, name) => flag(name, one));
    dims.forEach((one, dim) => flag(`coords[${dim}]`, one));
    const rank = at.found.coords.length, places = Object.keys(at.found.example.copies).length;
    setText(mapNote, at.found.told?.verdict === "refused" ? "the driver refuses to encode it"
      : at.now.edit || places < 2 ? "encoded once, 128 bytes" : `encoded once, 128 bytes for all ${places} places`);
    setText(copyNote, "every copy names its own");
    setText(instruction, `cp.async.bulk.tensor.${rank}d [destination], [map, {${at.found.coords.join(", ")}}], [barrier]`);
    const bytes = at.found.told?.verdict === "refused" ? null : at.found.told?.transaction_bytes;
    setText(barrier, bytes ? `expects ${bytes} bytes` : "–");
  }

  return {
    nodes: [map, operands],
    paint() {
      paintSteppers();
      paintFields();
    },
  };
}
