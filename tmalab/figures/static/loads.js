// "Two loads, one barrier": who does what when, on the axis that was measured, or in the model's order. Every time, count
// and sentence comes from Python (loads_run.py, loads_model.py); here the lanes are switched and walked through.
import { card, h, put, segments, setText } from "./kit.js";
import { laneChart, stepper } from "./lanes.js";

const HEAD = ["Lane", "What", "From (cycles)", "To (cycles)", "From (ns)", "Said"];

export function readLoads(spec, provenance, state) {
  const seen = provenance.states[spec.choices.warmth.indexOf(state.warmth)], measured = seen !== null;
  const isModel = state.view === "model" || !measured, one = isModel ? spec.model : seen;
  const steps = new Set(one.order), differs = new Set(one.differs);
  const kind = (mark) => (differs.has(mark.key) ? "wrong" : steps.has(mark.key) ? "soft" : mark.kind);
  const lanes = isModel || state.view !== "difference" ? one.lanes
    : one.lanes.map((lane) => ({ ...lane, marks: lane.marks.map((mark) => ({ ...mark, kind: kind(mark) })) }));
  const step = Math.min(state.step, one.order.length - 1);
  const unmeasured = !measured && state.view !== "model";
  return {
    measured, isModel, one, lanes, step, key: one.order[step], marks: one.lanes.flatMap((lane) => lane.marks.map((mark) => ({ lane, mark }))),
    units: isModel ? [["steps", 1]] : [["cycles", 1], ["ns", 1 / one.cycles_per_ns]],
    head: unmeasured ? `Model, not measured. ${one.head}` : state.view === "difference" ? one.difference : one.head,
    source: isModel ? spec.model.line : provenance.lines[seen.line],
  };
}

export const tableOf = ({ marks, isModel, one }) => ({
  head: isModel ? HEAD.map((word) => word.replace("cycles", "steps")) : HEAD,
  rows: marks.map(({ lane, mark }, key) => ({
    key, cells: [
      [lane.name, lane.note].filter(Boolean).join(", "), mark.text || "–", `${mark.from}`, mark.to === undefined ? "–" : `${mark.to}`,
      isModel ? "–" : (mark.from / one.cycles_per_ns).toFixed(0), mark.say,
    ],
  })),
});

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const state = () => Object.fromEntries(["warmth", "view", "step"].map((name) => [name, model.get(name)]));
  let now, found, drawn = null;
  const seek = () => { now = state(); found = readLoads(spec, provenance, now); };
  seek();
  let pointed = null, picked = null; // keys: under the pointer; picked, where it is no step

  const heading = h("b"), note = h("small");
  const about = h("p", { class: "tma-loads-head" });
  const chart = laneChart({
    label: "Lanes over time",
    onPoint: (key) => { if (key !== pointed) { pointed = key; frame.light(); } },
    onPick: (key) => {
      const step = found.one.order.indexOf(key);
      pointed = null;
      picked = step < 0 ? key : null;
      if (step >= 0 && step !== now.step) put(model, { step });
      else frame.light();
    },
  });
  const stage = h("div", { class: "tma-stage" }, h("p", { class: "tma-head" }, heading, " ", note), about, chart.node);
  const steps = stepper(model, "step", "Step", () => found.one.order.length, () => {
    seek();
    const { mark } = found.marks.find((each) => each.mark.key === found.key);
    return [`${found.step + 1} of ${found.one.order.length}`, mark.say];
  });

  function paint() {
    seek();
    picked = null;
    setText(heading, found.isModel ? "The model's run" : `One run on the ${provenance.gpu}`);
    setText(note, found.isModel ? "model, not measured" : `caches ${now.warmth}; the last lanes are of all runs`);
    note.classList.toggle("tma-unmeasured", found.isModel && now.view !== "model");
    setText(about, found.head);
    const lanes = `${found.isModel} ${now.warmth} ${now.view}`;
    if (drawn !== lanes) chart.draw({ lanes: found.lanes, from: 0, to: found.one.end, units: found.units });
    drawn = lanes;
    chart.setStop(found.key);
    chart.setCursor(found.marks.find(({ mark }) => mark.key === found.key).mark.from);
  }
  const hot = () => pointed ?? picked ?? found.key;
  function light() {
    chart.setHot(hot());
    return new Set([found.marks.findIndex(({ mark }) => mark.key === hot())]);
  }

  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...spec.choices, step: Array.from({ length: spec.most_steps }, (_, i) => i) },
    controls: [segments(model, "warmth", "The caches", spec.choices.warmth), segments(model, "view", "View", spec.choices.view), steps],
    stage, paint, light, sentence: () => found.marks.find(({ mark }) => mark.key === hot()).mark.say,
    provenance: () => found.source, table: () => tableOf(found),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: found.source, head: found.head,
      marks: found.marks.map(({ lane, mark }) => ({ lane: lane.name, note: lane.note, ...mark })),
    }),
  });
  return () => { steps.dispose(); frame.dispose(); };
}

export default { render };
