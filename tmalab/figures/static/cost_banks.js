// The 32 banks as a chart, and below it, bank by bank, the words of shared memory that the warp reads; the wavefronts to
// step through.
import { cellGrid, h, setAttribute, setText } from "./kit.js";
import { BANKS, banksOf, chunkOf, lanesAt, linesOf, plural, walkWords } from "./cost_words.js";

const TINTS = 8;
const HIGH = 64; // pixels of the tallest bar
const DEEPEST = 2; // words that a scale has at least: one word is no full bar

// `at.found` is the state that is drawn; `actions` change it: wave(number), step(lanes), pick(lane),
// about(lane or null).
export function banks(title, at, actions) {
  const button = (label, word, go) => h("button", { type: "button", "aria-label": word, onclick: go }, label);
  const go = (to) => () => actions.wave(to(at.found));
  const where = h("span"), who = h("span");
  const all = button("all", "all wavefronts", go(() => 0));
  const waves = h("span", { class: "tma-stepper", role: "group", "aria-label": "wavefronts" },
    button("−", "previous wavefront", go(({ wave, waves: count }) => (wave ? wave - 1 : count))), where,
    button("+", "next wavefront", go(({ wave, waves: count }) => (wave < count ? wave + 1 : 0))), all);
  const lanes = h("span", { class: "tma-stepper", role: "group", "aria-label": "lanes" },
    button("−", "previous lane", () => actions.step(-1)), who, button("+", "next lane", () => actions.step(1)));

  const bars = Array.from({ length: BANKS }, (_, bank) => {
    const whole = h("i"), part = h("i"), count = h("small");
    return { node: h("span", { title: `bank ${bank}` }, count, whole, part), whole, part, count };
  });
  const chart = h("div", { class: "tma-bank-bars", role: "img" }, ...bars.map(({ node }) => node));
  const numbers = h("div", { class: "tma-bank-numbers", "aria-hidden": true }, ...bars.map((_, bank) => h("span", {}, String(bank))));
  const holder = h("div", { class: "tma-bank-words" });
  // Of a thousand words few are read: the keys go from one of these to the next, and no other is announced.
  holder.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".tma-cell");
    const to = cell && !event.ctrlKey && !event.metaKey && !event.altKey ? walkWords(lines, +cell.dataset.at, event.key) : null;
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    grid.setStop(to);
    grid.cells[to].focus();
  }, true);
  let grid = null, lines = [], labels = [];

  function build() {
    const laneAt = (place) => (place === null ? null : lines[Math.floor(place / BANKS)]?.lanes[place % BANKS][0] ?? null);
    labels = lines.map(() => h("span", { class: "tma-address", "aria-hidden": true }));
    grid = cellGrid({
      label: `${title}: the words that are read, a column a bank`, rows: lines.length, cols: BANKS, before: (row) => labels[row],
      onPoint: (place) => actions.about(laneAt(place)), onPick: (place) => laneAt(place) !== null && actions.pick(laneAt(place)),
    });
    holder.replaceChildren(grid.node);
  }

  function paintBars() {
    const { found } = at;
    const each = banksOf(found), tallest = Math.max(DEEPEST, ...each.map(({ all: words }) => words));
    const most = Math.max(...each.map(({ all: words }) => words));
    each.forEach(({ all: words, until, now }, bank) => {
      const { node, whole, part, count } = bars[bank];
      whole.hidden = part.hidden = words === 0;
      whole.style.height = `${(HIGH * words) / tallest}px`;
      part.style.height = `${(HIGH * until) / tallest}px`;
      node.classList.toggle("tma-now", found.wave > 0 && now > 0);
      setText(count, words && words === most && (bank === 0 || each[bank - 1].all !== words) ? String(words) : "");
    });
    const idle = each.filter(({ all: words }) => words === 0).length;
    setAttribute(chart, "aria-label", `Words that each bank must deliver: at most ${most}, none in ${plural(idle, "bank")}`);
  }

  function paintWords() {
    const { found } = at, next = linesOf(found);
    const same = grid !== null && next.length === lines.length;
    lines = next;
    if (!same) build();
    const now = new Set(found.runs ? lanesAt(found) : []);
    lines.forEach(({ address, first, lanes: words }, row) => {
      setText(labels[row], String(address));
      words.forEach((lanes, bank) => {
        const node = grid.cells[row * BANKS + bank], lit = lanes.some((lane) => now.has(lane));
        setAttribute(node, "class", `tma-cell${!lanes.length ? " tma-idle" : lit ? "" : " tma-equal"}`);
        setAttribute(node, "style", lit ? `--tint:var(--tma-c${chunkOf(found, lanes[0]) % TINTS})` : null);
        setText(node.firstChild, lanes.length ? String(lanes[0]) : "");
        setText(node.lastChild, lanes.length > 1 ? "+" : "");
        setAttribute(node, "role", lanes.length ? "gridcell" : null);
        setAttribute(node, "aria-hidden", lanes.length ? null : true);
        if (!lanes.length) setAttribute(node, "tabindex", null);
        setAttribute(node, "aria-label", lanes.length ? `word ${first + bank}, bank ${bank}: ${lanes.length > 1 ? "lanes" : "lane"} ${lanes.join(", ")}` : null);
      });
    });
    const stop = found.runs && found.words[found.lane].length ? found.words[found.lane][0] : null;
    const row = lines.findIndex(({ first }) => stop !== null && stop >= first && stop < first + BANKS);
    if (row >= 0) grid.setStop(row * BANKS + (stop % BANKS));
  }

  const node = h("div", { class: "tma-bank-side" },
    h("p", { class: "tma-head" }, h("span", {}, h("b", {}, "Shared memory, 32 banks")), h("span", { class: "tma-steppers" }, lanes, waves)),
    chart, numbers, holder,
    h("p", { class: "tma-key" }, "Bar = words that the bank must deliver. Cell = one word: the lane that reads it, + for more; its colour the 16 bytes of the tile's row"));
  return {
    node,
    paint() {
      const { found } = at;
      node.hidden = !found.runs;
      if (!found.runs) return;
      setText(where, found.wave ? `wavefront ${found.wave} of ${found.waves}` : plural(found.waves, "wavefront"));
      setText(who, `lane ${found.lane}`);
      all.disabled = !found.wave;
      paintBars();
      paintWords();
    },
    light(lane) {
      if (!at.found.runs) return;
      const words = new Set(lane === null ? [] : at.found.words[lane]);
      lines.forEach(({ first }, row) => {
        for (let bank = 0; bank < BANKS; bank++) grid.cells[row * BANKS + bank].classList.toggle("tma-hot", words.has(first + bank));
      });
      const hot = new Set([...words].map((word) => word % BANKS));
      bars.forEach((bar, bank) => bar.node.classList.toggle("tma-hot", hot.has(bank)));
    },
  };
}
