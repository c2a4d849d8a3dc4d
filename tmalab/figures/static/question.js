// A question with one integer for an answer. The reader's text is judged here; the answer was computed in Python.
import { h, setText } from "./kit.js";

// What to say to `text`: {right, words}; a hint only after a number, since an empty field is no try.
export function judge(spec, text) {
  const digits = text.replace(/[\s,_']/g, "");
  if (!/^[+-]?\d+$/.test(digits)) return { right: null, words: "Type a whole number." };
  if (Number(digits) === spec.answer) return { right: true, words: `✓ Right. ${spec.why}` };
  return { right: false, words: `✗ Not ${digits}. ${spec.hint}` };
}

function render({ model, el }) {
  const spec = model.get("spec");
  const input = h("input", { type: "text", inputmode: "numeric", autocomplete: "off", size: 8, "aria-label": "Your answer" });
  const verdict = h("p", { class: "tma-verdict", role: "status" });
  const form = h("form", {
    class: "tma-ask",
    onsubmit: (event) => {
      event.preventDefault();
      const { right, words } = judge(spec, input.value);
      setText(verdict, words);
      root.dataset.right = String(right);
    },
  }, h("p", {}, spec.title), h("div", {}, input, h("button", { type: "submit" }, "Check")), verdict);
  const root = h("div", { class: "tma tma-question", role: "group", "aria-label": spec.title }, form);
  el.replaceChildren(root);
}

export default { render };
