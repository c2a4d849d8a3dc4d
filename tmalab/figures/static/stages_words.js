// "Loads that run ahead" without a page: one version looked up in what Python measured (stages_tables.py), and the words.
// stages_state.py reads the same tables in the same way.
const NEVER = -1, STAMPS = 4;
const UNMEASURED = "Not measured: there is no recording of this run, and the model has no clock.";
export const WAYS = { registers: "through registers", tma: "by TMA store" };

// Numbers in base 36, each the difference to the one before it, "*" how often.
function unpackStamps(text) {
  const numbers = [];
  for (const [step, count = 1] of text.split(" ").map((word) => word.split("*"))) {
    for (let i = 0; i < count; i++) numbers.push(parseInt(step, 36) + (numbers.at(-1) ?? 0));
  }
  return numbers;
}

export function readStages(spec, provenance, { via, stages }) {
  const { via: ways, stages: counts } = spec.choices;
  const one = provenance.states[ways.indexOf(via) * counts.length + counts.indexOf(stages)];
  if (!one) return { tiles: [], share: null, source: UNMEASURED, end: 0 };
  const flat = unpackStamps(one.cycles);
  const tiles = Array.from({ length: flat.length / STAMPS }, (_, tile) => flat.slice(tile * STAMPS, (tile + 1) * STAMPS));
  return { tiles, share: one.share, source: provenance.line, end: provenance.end };
}

// Loads in flight while a tile leaves, averaged over the time that tiles take to leave.
export function ahead({ tiles }) {
  let leaving = 0, overlap = 0;
  for (const [, complete, out, free] of tiles) {
    const end = free === NEVER ? out : free;
    leaving += end - complete;
    for (const [issued, landed] of tiles) overlap += Math.max(0, Math.min(end, landed) - Math.max(complete, issued));
  }
  return leaving ? overlap / leaving : 0;
}

export function sentence(found, { via, stages }) {
  const name = `${stages} buffer${stages > 1 ? "s" : ""}, tiles leave ${WAYS[via]}`;
  if (found.share === null) return `${name}: not measured.`;
  return `${name}: ${(found.share * 100).toFixed(1)}% of the rate of the driver's copy. While a tile was on its way out, ${ahead(found).toFixed(1)} loads were in flight on average.`;
}

function marks([issued, complete, out, free], tile, via) {
  const end = free === NEVER ? out : free;
  const said = free === NEVER ? "no later tile wanted its buffer" : `its buffer was free at ${free}`;
  return [
    {
      key: `load-${tile}`, from: issued, to: complete, text: String(tile), kind: "outline",
      say: `Tile ${tile}: its load was issued at ${issued} cycles and seen complete at ${complete}, ${complete - issued} later.`,
    },
    {
      key: `out-${tile}`, from: complete, to: Math.max(end, complete), text: "", kind: "solid",
      say: `Tile ${tile}: ${WAYS[via]} it was on its way out at ${out} cycles; ${said}.`,
    },
  ];
}

export function lanesOf({ tiles }, { via, stages }) {
  if (!tiles.length) return [];
  return Array.from({ length: stages }, (_, stage) => ({
    name: `buffer ${stage}`, note: `tiles ${stage}, ${stage + stages} …`,
    marks: tiles.flatMap((stamps, tile) => (tile % stages === stage ? marks(stamps, tile, via) : [])),
  }));
}

export const HEAD = ["Tile", "Buffer", "Load issued", "Seen complete", "On its way out", "Buffer free"];
export const tableOf = ({ tiles }, { stages }) =>
  tiles.map((stamps, tile) => ({ key: tile, cells: [`${tile}`, `${tile % stages}`, ...stamps.map((one) => (one === NEVER ? "–" : `${one}`))] }));
