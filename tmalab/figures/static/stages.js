// "Loads that run ahead": a lane a buffer over the cycles of one block: a tile's load open, its way out filled. Every
// number comes from Python (stages_tables.py).
import { card, h, segments, setText } from "./kit.js";
import { laneChart } from "./lanes.js";
import { HEAD, WAYS, lanesOf, readStages, sentence, tableOf } from "./stages_words.js";

function render({ model, el }) {
  const spec = model.get("spec"), provenance = model.get("provenance");
  const state = () => ({ via: model.get("via"), stages: model.get("stages") });
  let now = state(), found = readStages(spec, provenance, now), lane = null;

  const heading = h("b"), note = h("small");
  const chart = laneChart({
    label: "One block over time",
    onPoint: (mark) => { if (mark !== lane) { lane = mark; frame.light(); } },
    onPick: (mark) => { lane = mark; frame.light(); },
  });
  const box = h("div", { class: "tma-stages-chart" }, chart.node);
  const stage = h("div", { class: "tma-stage" }, h("p", { class: "tma-head" }, heading, " ", note), box);

  function paint() {
    now = state();
    found = readStages(spec, provenance, now);
    lane = null;
    setText(heading, `${now.stages} buffer${now.stages > 1 ? "s" : ""}, ${WAYS[now.via]}`);
    setText(note, found.share === null ? found.source : `${(found.share * 100).toFixed(1)}% of the driver's copy; one block of ${spec.blocks}, from its first load on`);
    box.hidden = !found.tiles.length;
    if (!box.hidden) chart.draw({ lanes: lanesOf(found, now), from: 0, to: found.end, units: [["cycles", 1]] });
    chart.setCursor(null);
  }
  function light() {
    chart.setHot(lane);
    return new Set(lane === null ? [] : [+lane.split("-")[1]]);
  }
  const words = () => {
    const mark = lane === null ? null : lanesOf(found, now).flatMap(({ marks }) => marks).find(({ key }) => key === lane);
    return mark ? mark.say : sentence(found, now);
  };
  const frame = card(model, el, {
    name: spec.name, title: spec.title, choices: spec.choices,
    controls: [segments(model, "via", "A tile leaves through", spec.choices.via), segments(model, "stages", "Buffers", spec.choices.stages)],
    stage, paint, light, sentence: words, provenance: () => found.source,
    table: () => ({ head: HEAD, rows: tableOf(found, now) }),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: found.source,
      cycles: found.tiles, share_of_driver_copy: found.share,
    }),
  });
  return frame.dispose;
}

export default { render };
