// "The tile landing" without a page: one state looked up in what Python measured (landing_tables.py), and the words.
// landing_state.py reads the same tables in the same way.
const SHADES = 8;
const UNMEASURED = "Not measured: there is no recording of this state, and the model has no clock.";

// Numbers in base 36, each the difference to the one before it, "*" how often.
export function unpackTimes(text) {
  const numbers = [];
  for (const [step, count = 1] of text.split(" ").map((word) => word.split("*"))) {
    for (let i = 0; i < count; i++) numbers.push(parseInt(step, 36) + (numbers.at(-1) ?? 0));
  }
  return numbers;
}

const shade = (number, many) => (many === 1 ? 0 : Math.round((number * (SHADES - 1)) / (many - 1) + 1e-9));

export function readLanding(spec, provenance, state) {
  const number = spec.choices.tile.indexOf(state.tile), tile = spec.tiles[number];
  const one = provenance.states[number * spec.choices.warmth.length + spec.choices.warmth.indexOf(state.warmth)];
  const piece = Math.min(state.piece, tile.pieces - 1);
  if (!one) return { tile, one: null, piece, source: UNMEASURED, shades: new Array(tile.pieces).fill(null), key: [], run: [], median: [], low: [], high: [] };
  const [run, gaps, median, low, high] = one.times.map(unpackTimes);
  const times = state.shown === "one run" ? run : median;
  const values = state.shown === "spread" ? high.map((most, i) => most - low[i]) : times;
  const first = Math.min(...times), last = Math.max(...times);
  const now = first - 1 + Math.round(((last - first + 1) * state.frame) / spec.frames);
  const [begin, width, many] = one.bins[spec.choices.shown.indexOf(state.shown)];
  return {
    tile, one, piece, run, gaps, median, low, high, times, values, now, source: provenance.lines[one.line],
    shades: values.map((value, i) => (times[i] <= now ? shade(Math.floor((value - begin) / width), many) : null)),
    key: Array.from({ length: many }, (_, i) => [shade(i, many), `${begin + i * width} to ${begin + (i + 1) * width - 1}`]),
  };
}

// What the caches held before: only what was recorded of this tile can be chosen.
export function recorded(spec, provenance, tile) {
  const first = spec.choices.tile.indexOf(tile) * spec.choices.warmth.length;
  return spec.choices.warmth.filter((_, i) => provenance.states[first + i]);
}

export const ns = (found, cycles) => Math.round(cycles / found.one.cycles_per_ns);

export function landed({ one, times, tile, now }) {
  if (!one) return "";
  return `${times.filter((time) => time <= now).length} of ${tile.pieces} landed by ${now} cycles (${ns({ one }, now)} ns)`;
}

// The bytes of the tile that a piece is, and the rows of the box whose bytes they are.
export function place({ piece_bytes: size, row_bytes: rowBytes }, piece) {
  const first = piece * size, last = first + size - 1;
  const top = Math.floor(first / rowBytes), bottom = Math.floor(last / rowBytes);
  return [`${first} to ${last}`, top === bottom ? `${top}` : `${top} to ${bottom}`];
}

export function sentence(found, piece) {
  const { tile, one, run, gaps, median, low, high } = found, [held, rows] = place(tile, piece);
  const name = `Piece ${piece}, bytes ${held} of the tile (row${rows.includes(" ") ? "s" : ""} ${rows} of the box)`;
  if (!one) return `${name}: not measured.`;
  return `${name}: seen changed ${run[piece]} cycles (${ns(found, run[piece])} ns) after the load was issued, in the run drawn; the look at ${run[piece] - gaps[piece]} had still found the old word. `
    + `Median of ${one.runs} runs: ${median[piece]}; four in five between ${low[piece]} and ${high[piece]}.`;
}

export const HEAD = ["Piece", "Bytes of the tile", "Rows of the box", "Run drawn", "Median", "10 % of the runs by", "90 % by"];
export const tableOf = (found) =>
  Array.from({ length: found.tile.pieces }, (_, piece) => ({
    key: piece, cells: [`${piece}`, ...place(found.tile, piece), ...[found.run, found.median, found.low, found.high].map((one) => (found.one ? `${one[piece]}` : "–"))],
  }));
