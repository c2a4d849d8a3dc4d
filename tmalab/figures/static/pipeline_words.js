// "A pipeline" without a page: one state looked up in what Python measured and modelled (pipeline_tables.py), its lanes and
// the words. pipeline_state.py and pipeline_lanes.py read the same tables in the same way.
const MODEL_LINE = "Model: its costs were measured one by one, and not in this run.";
const UNMEASURED = "Not measured: there is no recording of this run, and the model's costs are measured ones.";
const WHERE = { l2: "tiles in the L2", hbm: "tiles in memory", all: "tiles in memory, every SM at once" };
const HIDDEN = 20; // a bubble of less than one part in so many is none
const HEAD = ["Tile", "Stage", "Stage empty", "Load issued", "Tile there", "Wait begins", "Wait ends", "Read and computed", "Stage given back", "Bubble"];
const SWEEP_HEAD = ["Compute (ns)", "Stages", "Time a tile (ns)", "All runs (ns)", "Model (ns)", "Off by", "Bubble (ns)", "Bubble, model (ns)", "Stages by Little's law"];

// Numbers in base 36, each the difference to the one before it, "*" how often.
function unpackMoments(text) {
  const numbers = [];
  for (const [step, count = 1] of text.split(" ").map((word) => word.split("*"))) {
    for (let i = 0; i < count; i++) numbers.push(parseInt(step, 36) + (numbers.at(-1) ?? 0));
  }
  return numbers;
}
export const tenths = (value) => Math.floor(10 * value + 0.5) / 10;
const signed = (value, digits = 0) => `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(digits)}`;
export const count = (stages) => `${stages} stage${stages > 1 ? "s" : ""}`;

export function readPipeline(spec, provenance, state) {
  const { tile, compute } = spec.choices, sweep = provenance.sweeps[tile.indexOf(state.tile)], number = compute.indexOf(state.compute);
  const cellOf = (stages, at) => sweep && sweep.cells[(stages - 1) * compute.length + at];
  const cell = cellOf(state.stages, number), isModel = state.view === "model";
  const line = sweep && provenance.lines[sweep.line];
  const run = (which) => {
    if (!cell) return {};
    const found = Object.fromEntries(spec.moments.map((name, i) => [name, unpackMoments(cell.runs[which][i])]));
    const waits = found.full_seen.map((seen, at) => seen - found.wait_begin[at] - sweep.pass[number]);
    return { ...found, bubble: waits.map((wait) => (wait > spec.noise ? wait : 0)) };
  };
  const measured = run(0), told = run(1), ns = (cycles) => Math.floor(cycles / sweep.cycles_per_ns + 0.5);
  return {
    spec, state, sweep, number, cell, cellOf, isModel, ns, stages: state.stages, gpu: provenance.gpu, run: measured, told,
    shown: isModel ? told : measured, end: sweep ? sweep.ends[number] : 0,
    source: sweep ? (isModel ? `${MODEL_LINE} ${line}` : line) : UNMEASURED,
    span: (begin, end) => `${ns(begin)} to ${ns(end)} ns`,
    computeOf: (at) => (sweep ? ns(sweep.work[at] - sweep.work[0]) : 0),
    computeName: (fma) => String(sweep ? ns(sweep.work[compute.indexOf(fma)] - sweep.work[0]) : fma),
    border: (depth) => (depth === 1 ? Infinity : (sweep.law[0][0] - sweep.law[0][1]) / (depth - 1) / sweep.cycles_per_ns),
    parts: (which = +isModel) => cell.parts[which].map(ns),
  };
}

// --- words ------------------------------------------------------------------------------------------------------------

export function isHidden(found) {
  const [period, bubble] = found.parts();
  return HIDDEN * bubble < period;
}
export function heading(found) {
  const { cell, sweep, state, parts } = found;
  if (!cell) return sweep ? "no room" : "not measured";
  return state.view === "difference" ? `${signed(difference(found), 1)}%` : `${parts()[1]} ns`;
}
export function verdict(found) {
  const { cell, sweep, source, stages, state } = found, kib = state.tile / 1024;
  if (!sweep) return source;
  if (!cell) return `${stages} stages of ${kib} KiB are ${stages * kib} KiB, and an SM's block has 227.`;
  if (state.view === "difference") return `the ${found.gpu} took ${found.ns(cell.tile[0])} ns a tile, the model says ${found.ns(cell.told)} ns`;
  const [period, bubble] = found.parts();
  if (isHidden(found)) return `bubble a tile: ${count(stages)} hide${stages === 1 ? "s" : ""} the latency, and a tile is done every ${period} ns`;
  return `bubble a tile: the consumers stand still for ${Math.floor((100 * bubble) / period)}% of every ${period} ns`;
}
export function law(found) {
  const { sweep, number, ns, cell, stages: here, state } = found;
  if (!sweep) return "";
  const [trip, step, stages] = sweep.law[number];
  const left = cell && state.view !== "difference" && here >= stages && !isHidden(found) ? " What is left are loads that took longer than most." : "";
  return `Little's law: a stage's round trip of ${ns(trip)} ns over the slowest step's ${ns(step)} ns is ${tenths(trip / step).toFixed(1)}, `
    + `so ${count(stages)} hide${stages === 1 ? "s" : ""} the mean latency.${left}`;
}
export function difference({ cellOf, number, stages }, depth = stages, at = number) {
  const cell = cellOf(depth, at);
  return tenths(100 * (cell.tile[0] / cell.told - 1));
}
export function sentence(found) {
  const { cell, state, spec, ns, number, stages } = found;
  if (!cell) return verdict(found);
  return `${count(stages)}, ${state.tile} bytes a tile, ${WHERE[spec.place]}, computed on for ${found.computeOf(number)} ns: ${ns(cell.tile[0])} ns a tile over `
    + `${spec.tiles} tiles; the model says ${ns(cell.told)} (${signed(difference(found), 1)}%). Without the stamps it took ${ns(cell.plain)} ns.`;
}

// A tile's time in its parts, as shares of what it takes with one stage.
export function partsOf(found) {
  const { cell, cellOf, number, state, isModel, ns } = found;
  if (!cell || state.view === "difference") return [];
  const [period, bubble, work] = cell.parts[+isModel], whole = cellOf(1, number).parts[+isModel][0];
  return [["work", work, `work ${ns(work)} ns`], ["rest", period - bubble - work, "hand-off"], ["bubble", bubble, `${ns(bubble)} ns`]]
    .filter(([, cycles]) => cycles > 0).map(([kind, cycles, text]) => ({ kind, text, share: cycles / Math.max(whole, period) }));
}

// A depth and a compute time as the chart of all draws it.
export function pointOf(found, stages, number) {
  const { cellOf, ns, state, sweep, isModel } = found, cell = cellOf(stages, number);
  if (!cell) return null;
  const [middle, low, high] = cell.tile.map(ns), [period, bubble] = cell.parts[+isModel], late = difference(found, stages, number);
  const isDifference = state.view === "difference", told = isDifference ? late : cell.told / sweep.cycles_per_ns;
  const scaled = cell.tile.map((one) => (isDifference ? 100 * (one / cell.told - 1) : one / sweep.cycles_per_ns));
  return {
    stages, number, told, value: isDifference ? late : isModel ? told : scaled[0], range: isModel ? [told, told] : scaled.slice(1), bubbles: HIDDEN * bubble >= period,
    say: `${count(stages)}, computed on for ${found.computeOf(number)} ns: ${middle} ns a tile (${low} to ${high}); the model says ${ns(cell.told)} `
      + `(${signed(late, 1)}%). Bubble a tile: ${ns(cell.parts[0][1])} ns, in the model ${ns(cell.parts[1][1])}.`,
  };
}

// --- lanes ------------------------------------------------------------------------------------------------------------

const tilesOf = ({ issued = [] }) => issued.map((_, tile) => tile);
// What the consumers need to see that a tile is there comes before their bubble.
const bubbleOf = ({ full_seen: seen, bubble }, tile) => [seen[tile] - bubble[tile], seen[tile]];

function lane({ end }, name, note, marks, rows = 1) {
  const kept = marks.filter(({ from }) => from < end).map((mark) => ({ ...mark, to: Math.min(mark.to, end) }));
  return { name, note, rows, marks: kept };
}
function producer({ span, stages, state }, run) {
  let before = 0;
  return tilesOf(run).flatMap((tile) => {
    const stage = tile % stages, ready = run.empty_seen[tile], issued = run.issued[tile];
    const ring = tile < stages ? [] : [{
      key: `ring-${tile}`, from: before, to: ready, text: "", kind: "hatch",
      say: `The producer waits for empty[${stage}], ${span(before, ready)}: tile ${tile - stages} must leave stage ${stage} before tile ${tile} may come.`,
    }];
    before = issued;
    return [...ring, {
      key: `issue-${tile}`, from: ready, to: issued, text: "", kind: "solid",
      say: `The producer arms full[${stage}] for ${state.tile} bytes and issues the load of tile ${tile}, ${span(ready, issued)}.`,
    }];
  });
}
const flights = ({ span, stages }, run) => tilesOf(run).map((tile) => {
  const from = run.issued[tile], to = run.full[tile];
  return { key: `flight-${tile}`, from, to, text: `${tile}`, kind: "outline", say: `Tile ${tile} is in flight, ${span(from, to)}.`, row: tile % stages };
});
function phases({ span, stages }, run, stage) {
  const marks = [], begins = [0, 0];
  tilesOf(run).filter((tile) => tile % stages === stage).forEach((tile, turn) => ["full", "empty"].forEach((name, row) => {
    const from = begins[row], to = run[name][tile];
    const ends = row ? `the consumers have read tile ${tile}, and the producer may fill stage ${stage} again.` : `tile ${tile} is there, and the consumers may read it.`;
    marks.push({
      key: `${name}-${tile}`, from, to, text: `${turn % 2}`, kind: turn % 2 ? "shade" : "soft", row,
      say: `${name}[${stage}], phase ${turn}, parity ${turn % 2}, ${span(from, to)}. It ends as ${ends}`,
    });
    begins[row] = to;
  }));
  return marks.sort((one, other) => one.from - other.from || one.row - other.row);
}
function consumers(found, run, name) {
  const { ns, span, stages } = found;
  let before = 0;
  return lane(found, name, "4 warps", tilesOf(run).flatMap((tile) => {
    const [from, seen] = bubbleOf(run, tile), done = run.read_end[tile], long = `${ns(seen - from)} ns`, stage = tile % stages;
    const wait = !tile ? [{
      key: "start", from, to: seen, text: "start-up", kind: "hatch",
      say: `The consumers wait ${long} for the first tile, ${span(from, seen)}: no depth hides its way.`,
    }] : from < seen ? [{
      key: `bubble-${tile}`, from, to: seen, text: long, short: `${ns(seen - from)}`, kind: "bubble",
      say: `Bubble: the consumers stand still for ${long}, ${span(from, seen)}. full[${stage}] is not complete: tile ${tile} is not there yet.`,
    }] : [];
    const rest = !tile ? [] : [{
      key: `rest-${tile}`, from: before, to: from, text: "", kind: "soft",
      say: `The consumers give stage ${(tile - 1) % stages} back, come round and ask full[${stage}], ${span(before, from)}: what that takes when nobody has to wait.`,
    }];
    before = done;
    return [...rest, ...wait, {
      key: `work-${tile}`, from: seen, to: done, text: `${tile}`, kind: "solid",
      say: `The consumers read tile ${tile} and compute on it, ${span(seen, done)}; then they give stage ${stage} back.`,
    }];
  }));
}
// How much later each tile was done than the model says, both counted from the first tile's end.
const lead = ({ run, told }) => run.read_end[0] - told.read_end[0];
function later(found) {
  const { ns, run, told } = found;
  const many = Math.min(run.read_end.length, told.read_end.length);
  return lane(found, "difference", "of a tile's end, ns", run.read_end.slice(1, many).map((to, i) => {
    const tile = i + 1, seen = ns(to - run.read_end[0]), foretold = ns(told.read_end[tile] - told.read_end[0]), late = signed(seen - foretold);
    return {
      key: `later-${tile}`, from: run.read_end[i], to, text: late, kind: "soft",
      say: `Tile ${tile} was done ${seen} ns after the first one; the model says ${foretold} ns: ${late}. Each load takes its own time; the model takes the times of others.`,
    };
  }));
}
const moved = (run, by) => Object.fromEntries(Object.entries(run).map(([name, all]) => [name, name === "bubble" ? all : all.map((one) => one + by)]));

export function lanesOf(found) {
  const { cell, shown, stages, state } = found;
  if (!cell) return [];
  if (state.view === "difference") return [consumers(found, found.run, `consumers, ${found.gpu}`), consumers(found, moved(found.told, lead(found)), "consumers, model"), later(found)];
  return [
    lane(found, "producer", "hatched: waits", producer(found, shown)),
    lane(found, "TMA", "loads in flight", flights(found, shown), stages),
    ...Array.from({ length: stages }, (_, stage) => lane(found, `stage ${stage}`, "full / empty", phases(found, shown, stage), 2)),
    consumers(found, shown, "consumers"),
  ];
}
export function bandsOf({ cell, shown, state, end }) {
  if (!cell || state.view === "difference") return [];
  return tilesOf(shown).slice(1).map((tile) => bubbleOf(shown, tile)).map(([from, to]) => [from, Math.min(to, end)]).filter(([from, to]) => from < to);
}

// --- table and data ---------------------------------------------------------------------------------------------------

export const tableOf = ({ shown, stages, ns }) => ({
  head: HEAD.map((word, i) => (i < 2 ? word : `${word} (ns)`)),
  rows: tilesOf(shown).map((tile) => ({ key: tile, cells: [`${tile}`, `${tile % stages}`, ...Object.values(shown).map((all) => `${ns(all[tile])}`)] })),
});
export function sweepOf(found) {
  const { spec: { choices }, sweep, cellOf, computeOf, ns } = found;
  const rows = choices.compute.flatMap((_, number) => choices.stages.map((stages) => {
    const cell = cellOf(stages, number);
    if (!cell) return null;
    const [middle, low, high] = cell.tile.map(ns), bubbles = cell.parts.map(([, bubble]) => ns(bubble));
    return [computeOf(number), stages, middle, `${low} to ${high}`, ns(cell.told), `${signed(difference(found, stages, number), 1)}%`, ...bubbles, sweep.law[number][2]];
  })).filter(Boolean);
  return { caption: "Time a tile, by depth", head: SWEEP_HEAD, rows: rows.map((row) => ({ cells: row.map(String) })) };
}
export const dataOf = ({ spec, sweep, cellOf, run, told }) => ({
  cycles_per_ns: sweep ? sweep.cycles_per_ns : null, measured: run, model: told,
  sweep: !sweep ? [] : spec.choices.stages.flatMap((stages) => spec.choices.compute.map((compute, number) => {
    const cell = cellOf(stages, number);
    return { stages, compute, fits: Boolean(cell), ...(cell ? { cycles_per_tile: cell.tile, plain: cell.plain, model: cell.told, parts: cell.parts } : {}) };
  })),
  law: sweep ? sweep.law : [],
});
