// "The ladder" without a page: one state looked up in what Python measured (ladder_tables.py), the words and the lanes.
// ladder_state.py and ladder_lanes.py read the same tables in the same way.
const UNMEASURED = "Not measured: there is no recording of this rung at this size.";
const MODELLED = "Model, not measured: tensor cores that never wait, in whole waves of tiles, at the data sheet's rate. It has no stamps of a block.";
const fixed = (number, digits = 1) => number.toFixed(digits);
const percent = (share) => `${(share * 100).toFixed(1)}%`;

// Numbers in base 36, each the difference to the one before it, "*" how often.
function unpackStamps(text) {
  const numbers = [];
  for (const [step, count = 1] of text.split(" ").map((word) => word.split("*"))) {
    for (let i = 0; i < count; i++) numbers.push(parseInt(step, 36) + (numbers.at(-1) ?? 0));
  }
  return numbers;
}

export function readLadder(spec, provenance, state) {
  const seen = (rung) => provenance.states[`${rung}/${state.size}`] ?? null;
  const roof = (rung) => spec.roofs[`${rung}/${state.size}`] ?? null;
  const number = spec.choices.rung.indexOf(state.rung), one = seen(state.rung), isModel = state.view === "model";
  const shown = spec.rungs.filter(({ name }) => roof(name) !== null); // the catalogue has a case of at this size
  return {
    label: spec.labels[spec.choices.size.indexOf(state.size)], shown, spec, state, seen, roof, number, one, isModel, rung: spec.rungs[number],
    source: isModel ? MODELLED : one ? provenance.lines[one.line] : UNMEASURED,
    part: one && !isModel ? one.parts[spec.choices.part.indexOf(state.part)] : null,
  };
}

export function bar({ spec, state, seen, roof, isModel }, rung) {
  const one = seen(rung), most = roof(rung), peak = spec.peak_tflops;
  if (isModel && most !== null) return `${fixed(most)} · ${percent(most / peak)} of the peak`;
  if (!one || most === null) return "not recorded";
  const [ours] = one.ours;
  if (state.view === "difference") return `${fixed(most - ours)} under its roof of ${fixed(most)}`;
  return `${fixed(ours)} · ${fixed(one.ratio, 3)} of cuBLAS · ${percent(ours / peak)} of the peak`;
}

const clock = ({ cycles_per_ns: rate }) => (rate === null ? "a clock unknown" : `${fixed(rate, 3)} GHz`);

export function facts({ rung, one, isModel }) {
  const { tile, stages, threads, shared_bytes: bytes } = rung;
  let shape = `Tile ${tile.join(" x ")}, ${stages} stage${stages === 1 ? "" : "s"}, ${threads} threads, ${bytes} bytes shared`;
  if (!one || isModel) return `${shape}.`;
  shape += `, ${one.registers} registers; stamped at ${clock(one)}`;
  const [tensor, l2, wavefronts, conflicts] = one.counters;
  if (tensor === "–") return `${shape}. Not profiled.`;
  return `${shape}. ncu: tensor pipe ${tensor}, L2 hits ${l2}, shared wavefronts ${wavefronts}, of them conflicts ${conflicts}.`;
}

export function sentence(found) {
  const { spec, state, rung, one, isModel } = found, peak = spec.peak_tflops, roof = found.roof(state.rung);
  const head = `${rung.idea[0].toUpperCase()}${rung.idea.slice(1)}: `;
  if (isModel && roof !== null) return `${head}${fixed(roof)} TFLOP/s, ${percent(roof / peak)} of the peak, if the tensor cores never waited and every wave of tiles took as long. Model, not measured.`;
  if (!one || roof === null) return `${head}not measured at this size.`;
  const [ours] = one.ours;
  if (state.view === "difference") return `${head}${fixed(ours)} TFLOP/s measured, ${percent(ours / roof)} of the ${fixed(roof)} that its tiles allow.`;
  return `${head}${fixed(ours)} TFLOP/s, ${fixed(one.ratio, 3)} of cuBLAS in the same run${gain(found)}. ${rung.bought}${waited(found)}`;
}

function gain({ shown, seen, rung, one }) {
  const lower = shown.filter(({ number }) => number < rung.number).at(-1), below = lower ? seen(lower.name) : null;
  return below ? `, ${fixed(one.ratio / below.ratio, 2)} times the rung below` : "";
}

function waited({ rung, one }) {
  const share = one.waits[1], out = one.way_out;
  if (share === null) return "";
  const did = rung.carries ? "carried tiles" : "waited for a full stage";
  return ` Block 0 ${did} for ${percent(share)} of its first ${one.whole ? "tile" : "steps"}${out === null ? "" : `; the way out took ${percent(out)}`}.`;
}

// --- lanes --------------------------------------------------------------------------------------------------------------

const AGENTS = ["producer", "consumer 0", "consumer 1"], NOTES = ["fills stages", "rows 0 to 63", "rows 64 to 127"];

export function lanesOf({ rung, part }) {
  if (!part) return [];
  const alone = !part.roles[0]; // nobody only fills stages
  return part.roles.flatMap((one, role) => {
    if (!one) return [];
    const [name, note] = alone ? ["whole block", "loads and multiplies"] : role && !part.roles[2] && !part.turns ? ["consumer", "all 128 rows"] : [AGENTS[role], role && part.turns ? "a tile of its own" : NOTES[role]];
    const flat = unpackStamps(one.cycles), steps = flat.length / 2;
    const stamps = Array.from({ length: steps }, (_, i) => [one.first + i, flat[2 * i], flat[2 * i + 1]]);
    return [{ name, note, marks: marks(rung, part, role, stamps, part.outs.filter(([consumer]) => consumer === role - 1)) }];
  });
}

function marks(rung, part, role, stamps, outs) {
  const mark = (key, from, to, text, kind, say) => ({
    key: `${key}-${role}-${from}`, from: Math.max(from, 0), to: Math.min(to, part.end), text, kind,
    say: `${say}, from ${from} to ${to} cycles, ${to - from} long.`,
  });
  const found = stamps.flatMap(([step, from, to], i) => {
    const stage = step % rung.stages;
    const why = role === 0 ? `waits until stage ${stage} is empty` : rung.carries ? "carries both tiles to shared memory" : `waits until stage ${stage} is full`;
    const wait = mark("wait", from, to, "", role && !rung.carries ? "bubble" : "hatch", `Step ${step}: ${why}`);
    const until = Math.min(stamps[i + 1]?.[1] ?? part.end, ...outs.map(([, begin]) => begin).filter((begin) => begin >= to));
    if (until <= to) return [wait];
    const work = role === 0 ? mark("work", to, until, String(step), "solid", `Step ${step}: asks for both tiles`)
      : mark("work", to, until, String(step), "outline", `Step ${step}: ${rung.stages > 1 ? "issues its products, waits for those of the step before" : "multiplies"}; the tensor cores need ${fixed(rung.step_cycles, 0)} cycles for the whole tile`);
    return [wait, work];
  });
  found.push(...outs.map(([, from, to]) => mark("out", from, to, "out", "solid", "The tile on its way out")));
  return found.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from);
}

// --- the same as texts and as data ----------------------------------------------------------------------------------------

export const HEAD = [
  "Rung", "TFLOP/s", "Four in five between", "cuBLAS", "Ratio", "Of the peak", "Roof", "Waits for full", "Way out",
  "Clock", "Tensor pipe", "L2 hits", "Shared wavefronts", "Shared conflicts", "Registers",
];

export function tableOf({ spec, seen, roof, shown }) {
  return shown.map(({ name: rung }) => {
    const key = spec.choices.rung.indexOf(rung), one = seen(rung), told = roof(rung) === null ? "–" : fixed(roof(rung));
    if (!one) return { key, cells: [rung, ...Array(5).fill("–"), told, ...Array(8).fill("–")] };
    const [ours, slow, fast] = one.ours, share = (number) => (number === null ? "–" : percent(number));
    return { key, cells: [
      rung, fixed(ours), `${fixed(slow)} and ${fixed(fast)}`, fixed(one.cublas[0]), fixed(one.ratio, 3), percent(ours / spec.peak_tflops), told,
      share(one.waits[1]), share(one.way_out), clock(one), ...one.counters, String(one.registers),
    ] };
  });
}

export function dataOf(found) {
  const rungs = found.shown.map(({ name: rung }) => {
    const one = found.seen(rung), take = (name) => (one ? one[name] : null);
    return { rung, roof_tflops: found.roof(rung), tflops: take("ours"), cublas_tflops: take("cublas"), ratio: take("ratio"), waits: take("waits"), way_out: take("way_out") };
  });
  return { rungs, lanes: lanesOf(found) };
}
