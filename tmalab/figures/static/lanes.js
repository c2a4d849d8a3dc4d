// Lanes over one time axis: who does what when. Bars and ticks are boxes placed in percent of the axis, so that the
// chart shrinks with the page and can be saved as a picture like every other box.
//
//   lane   {name, note, marks}      mark   {key, from, to, text, kind, say}     to absent: a moment, drawn as a tick
//          rows: how many, where thin marks overlap in time; then mark.row      short: where the text is too long
//
// Kinds take ink and outline before colour: solid, outline, hatch, soft, shade, bubble, tint-0 … tint-7, wrong.
import { h, setAttribute, setText } from "./kit.js";

// The class of a text by its length: lanes.css leaves out what would not fit.
const lengthOf = ({ length }) => `tma-text-${length > 12 ? 17 : length}`;

// Round steps for an axis: at most `wanted` of them from `from` to `to`.
export function ticks(from, to, wanted) {
  const rough = (to - from) / Math.max(wanted, 1);
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * (1 - 1e-9));
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

// The mark that a key leads to: left and right in time within the lane, up and down to the nearest of the next lane.
export function walkMarks(key, at, lanes) {
  const lane = lanes.findIndex(({ marks }) => marks.some((mark) => mark.key === at));
  if (lane < 0) return null;
  const { marks } = lanes[lane], index = marks.findIndex((mark) => mark.key === at);
  const { from, to = from } = marks[index], time = from + (to - from) / 1e6; // inside: what ends where it begins is past
  const beside = (step) => {
    for (let other = lane + step; lanes[other]; other += step) {
      if (lanes[other].marks.length) return nearestMark(lanes[other].marks, time).key;
    }
    return at;
  };
  switch (key) {
    case "ArrowLeft": return marks[Math.max(index - 1, 0)].key;
    case "ArrowRight": return marks[Math.min(index + 1, marks.length - 1)].key;
    case "ArrowUp": return beside(-1);
    case "ArrowDown": return beside(1);
    case "Home": return marks[0].key;
    case "End": return marks.at(-1).key;
    default: return null;
  }
}

// The mark of a lane that is nearest to a time; of several that hold it, the shortest.
export function nearestMark(marks, time) {
  const distance = ({ from, to = from }) => Math.max(from - time, time - to, 0);
  const length = ({ from, to = from }) => to - from;
  return marks.reduce((best, mark) => {
    const nearer = distance(mark) - distance(best);
    return nearer < 0 || (nearer === 0 && length(mark) < length(best)) ? mark : best;
  });
}

// What is drawn has `units` [[name, factor], …], one or two, an axis each; a time times its factor is what the axis says.
// `bands` [[from, to], …] stand out behind all lanes.
export function laneChart({ label, onPoint, onPick }) {
  let shown = { lanes: [], from: 0, to: 1 }, stop = null;
  const nodes = new Map();
  const cursor = h("i", { class: "tma-lane-cursor", "aria-hidden": true });
  const rows = h("div", { class: "tma-lane-rows" });
  const axes = [0, 1].map(() => h("div", { class: "tma-lane-axis", "aria-hidden": true }, h("div")));
  const percent = (time) => (100 * (time - shown.from)) / (shown.to - shown.from);
  const markAt = (event) => {
    const track = event.target.closest?.(".tma-lane-track");
    if (!track) return null;
    const { rows: many = 1, marks: all } = shown.lanes[+track.dataset.lane];
    const { left, top, width, height } = track.getBoundingClientRect();
    const under = Math.floor((many * (event.clientY - top)) / height), marks = all.filter(({ row = 0 }) => many === 1 || row === under);
    if (!marks.length) return null;
    const per = (shown.to - shown.from) / width, time = shown.from + (event.clientX - left) * per;
    const { key, from, to = from } = nearestMark(marks, time);
    return Math.max(from - time, time - to) > 14 * per ? null : key;
  };
  const node = h("div", {
    class: "tma-lanes", role: "listbox", "aria-label": label,
    onpointermove: (event) => onPoint(markAt(event)),
    onpointerleave: () => onPoint(null),
    onclick: (event) => markAt(event) !== null && onPick(markAt(event)),
    onfocusin: (event) => event.target.dataset.key !== undefined && onPick(event.target.dataset.key),
    onkeydown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.dataset.key === undefined) return;
      const next = walkMarks(event.key, event.target.dataset.key, shown.lanes);
      if (next === null) return;
      event.preventDefault();
      setStop(next);
      nodes.get(next).focus();
    },
  }, rows);
  const whole = h("div", { class: "tma-lane-chart" }, axes[0], node, axes[1]);

  function draw(next) {
    shown = next;
    nodes.clear();
    const bands = (shown.bands ?? []).map(([from, to]) => h("i", {
      class: "tma-lane-band", "aria-hidden": true, style: `--at:${percent(from) / 100};--long:${(percent(to) - percent(from)) / 100}`,
    }));
    rows.replaceChildren(...bands, ...shown.lanes.map(({ name, note = "", marks, rows: many = 1 }, lane) => {
      const look = many === 1 ? "" : ` tma-lane-many${many === 2 ? " tma-lane-two" : ""}`;
      const track = h("div", { class: `tma-lane-track${look}`, "data-lane": lane, style: many === 1 ? null : `--rows:${many}` });
      for (const mark of marks) {
        const { key, from, to, text = "", short, kind, row = 0 } = mark;
        const tint = /^tint-(\d)$/.exec(kind), left = percent(from);
        const box = h("div", {
          class: `tma-mark tma-mark-${tint ? "tint" : kind}${to === undefined ? " tma-mark-tick" : ""}`, role: "option",
          "aria-selected": "false", "aria-label": text ? `${text}: ${mark.say}` : mark.say, "data-key": key, tabindex: -1,
          style: `left:${left}%;${to === undefined ? "" : `width:${percent(to) - left}%;`}${tint ? `--tint:var(--tma-c${tint[1]})` : ""}${many === 1 ? "" : `--row:${row}`}`,
        }, h("span", { class: lengthOf(text) }, text));
        if (short) box.append(h("span", { class: `${lengthOf(short)} tma-text-instead` }, short));
        nodes.set(key, box);
        track.append(box);
      }
      return h("div", { class: "tma-lane", role: "group", "aria-label": note ? `${name}, ${note}` : name },
        h("p", { class: "tma-lane-name", "aria-hidden": true }, h("b", {}, name), " ", h("small", {}, note)), track);
    }), cursor);
    axes[1].hidden = shown.units.length < 2;
    shown.units.forEach(([name, factor], i) => {
      const places = ticks(shown.from * factor, shown.to * factor, 6);
      const words = places.map((at, j) => String(Math.round(at * 1e6) / 1e6) + (j ? "" : ` ${name}`));
      axes[i].firstChild.replaceChildren(...places.map((at, j) => {
        const left = percent(at / factor); // near the end a label would stand out, near the first meet its unit
        const place = left > 95 ? "tma-axis-end" : j && left < 8 + 2 * words[0].length ? "tma-axis-near" : null;
        return h("span", { class: place, style: `left:${left}%` }, words[j]);
      }));
    });
    setStop(nodes.has(stop) ? stop : [...nodes.keys()][0]);
  }
  function setStop(key) {
    stop = key;
    for (const [one, box] of nodes) setAttribute(box, "tabindex", one === stop ? 0 : -1);
  }
  function setCursor(time) {
    cursor.hidden = time === null;
    if (time !== null) cursor.style.setProperty("--at", percent(time) / 100);
  }
  // `kin`: what belongs to the mark in other lanes.
  function setHot(key, kin = () => false) {
    for (const [one, box] of nodes) {
      box.classList.toggle("tma-hot", one === key);
      box.classList.toggle("tma-kin", one !== key && kin(one));
      setAttribute(box, "aria-selected", String(one === key));
    }
  }
  return { node: whole, draw, setStop, setCursor, setHot, hasFocus: () => node.contains(document.activeElement) };
}

// Step, play and scrub: `name` is the number of a step, from 0 to `count() - 1`. Playing stops at the end, at a press
// and where the reader asks for less motion: there each press of "play" is one step.
export function stepper(model, name, legend, count, words) {
  let timer = null;
  const still = typeof matchMedia === "function" ? matchMedia("(prefers-reduced-motion: reduce)") : { matches: false };
  const move = (step) => {
    model.set(name, Math.min(Math.max(model.get(name) + step, 0), count() - 1));
    model.save_changes();
  };
  const pause = () => { clearInterval(timer); timer = null; paint(); };
  const play = () => {
    if (timer) return pause();
    if (still.matches) return move(1);
    if (model.get(name) >= count() - 1) move(-count());
    timer = setInterval(() => (model.get(name) >= count() - 1 ? pause() : move(1)), 700);
    paint();
  };
  const button = (text, said, act) => h("button", { type: "button", "aria-label": said, onclick: act }, text);
  const back = button("◀", "one step back", () => { pause(); move(-1); }), on = button("▶", "one step on", () => { pause(); move(1); });
  const run = button("play", "play", play), output = h("output");
  const input = h("input", {
    type: "range", min: 0, step: 1, "aria-label": legend,
    oninput: () => { const at = +input.value; pause(); model.set(name, at); model.save_changes(); }, // pausing paints
  });
  const node = h("div", { class: "tma-field tma-stepper", role: "group", "aria-label": legend },
    h("span", { class: "tma-legend" }, legend, " ", output), h("div", {}, back, run, on, input));
  function paint() {
    const at = model.get(name), [shown, said] = words(at);
    setAttribute(input, "max", count() - 1);
    input.value = at;
    setAttribute(input, "aria-valuetext", said);
    setText(output, shown);
    back.disabled = at <= 0;
    on.disabled = at >= count() - 1;
    setText(run, timer ? "pause" : "play");
    setAttribute(run, "aria-label", timer ? "pause" : "play");
  }
  return { node, paint, dispose: () => clearInterval(timer) };
}
