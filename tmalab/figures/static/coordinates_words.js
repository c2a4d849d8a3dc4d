// "A coordinate tensor" without a page: one state looked up in what Python made (coordinates_tables.py), and the words.
// coordinates_state.py reads the same tables in the same way.
const SHADES = 8, COMPANY = 4;
const UNMEASURED = "Model, not measured: there is no recording of this run.";
const ZERO = { issued: [], taken: [], landed: [], differ: [], sm: [] };

// Numbers in base 36, each the difference to the one before it, "*" how often.
export function unpackTiles(text) {
  const numbers = [];
  for (const [step, count = 1] of text.split(" ").map((word) => word.split("*"))) {
    for (let i = 0; i < count; i++) numbers.push(parseInt(step, 36) + (numbers.at(-1) ?? 0));
  }
  return numbers;
}

const shadeOf = (value, [first, width, many]) =>
  (many === 1 ? 0 : Math.round((Math.floor((value - first) / width) * (SHADES - 1)) / (many - 1) + 1e-9));

// Unpacked once: every state reads the same run.
export function readRun(spec, { measured, line }) {
  if (!measured) return { one: null, source: UNMEASURED, ...ZERO };
  const [issued, taken, differ, sm] = ["issued", "taken", "differ", "sm"].map((name) => unpackTiles(measured[name]));
  return { one: measured, source: line, issued, differ, sm, landed: issued.map((begin, tile) => begin + taken[tile]) };
}

export const sourceOf = (run, { view }) => (view === "model" ? "Model: CuTe's algebra, no run." : run.source);
export const startOf = (spec, tile) => [spec.down[Math.floor(tile / spec.tiles)], spec.across[tile % spec.tiles]];

// What stands in a tile's cell, and its shade; null: none.
export function cellOf(spec, run, { view, shown }, tile) {
  const block = Math.floor(tile / spec.tiles), column = tile % spec.tiles;
  if (view === "model" || !run.one) return [`${block},${column}`, null];
  if (view === "difference") return [String(run.differ[tile]), null];
  if (shown === "SM") return [String(run.sm[block]), shadeOf(run.sm[block], run.one.bins.SM)];
  return [(run.landed[tile] / 1000).toFixed(1), shadeOf(run.landed[tile], run.one.bins.landed)];
}

export function keyOf(run, { view, shown }) {
  if (!run.one || view !== "hardware") return [];
  const scale = run.one.bins[shown], [first, width, many] = scale;
  return Array.from({ length: many }, (_, i) => first + i * width).map((low) => [
    shadeOf(low, scale), shown === "SM" ? `${low} to ${low + width - 1}` : `${low / 1000} to ${(low + width) / 1000}`,
  ]);
}

export function callsOf(spec, { block, column }) {
  const [row, col] = startOf(spec, block * spec.tiles + column);
  const fill = (text) => text.replace("{index}", `(${block}, ${column})`).replace("{at}", `(${col},${row})`).replace("{coords}", `{${col}, ${row}}`);
  return spec.calls.map((pair) => pair.map(fill));
}

export function sentence(spec, run, { view }, tile) {
  const block = Math.floor(tile / spec.tiles), column = tile % spec.tiles;
  const [row, col] = startOf(spec, tile), [rows, cols] = spec.tile;
  const name = `Tile (${block}, ${column}), rows ${row} to ${row + rows - 1} and columns ${col} to ${col + cols - 1}`;
  if (view === "model" || !run.one) {
    return `${name}: element (${row}, ${col}), which the instruction is told as {${col}, ${row}}, innermost first.${view === "model" ? "" : " Not measured."}`;
  }
  if (view === "difference") {
    return `${name}: ${run.differ[tile]} of ${rows * cols} elements differ from the matrix, and ${run.differ.reduce((sum, one) => sum + one, 0)} of ${run.one.elements} in all.`;
  }
  return `${name}: block ${block} ran on SM ${run.sm[block]}. The load was issued ${run.issued[tile]} ns after the first of all and seen complete ${run.landed[tile] - run.issued[tile]} ns later, in steps of ${run.one.tick} ns.`;
}

export function lanesOf(spec, run, { view, block, column }) {
  if (!run.one || view === "model") return [];
  const others = Array.from({ length: COMPANY + 1 }, (_, i) => Math.round((i * (spec.strips - 1)) / COMPANY));
  const drawn = [block, ...others.filter((other) => other !== block).slice(0, COMPANY)];
  return drawn.map((each) => ({
    name: `block ${each}`, note: `SM ${run.sm[each]}`,
    marks: spec.across.map((_, at) => {
      const tile = each * spec.tiles + at;
      return {
        key: String(tile), from: run.issued[tile], to: run.landed[tile], text: String(at),
        kind: each === block && at === column ? "solid" : each === block ? "outline" : "soft",
        say: `Block ${each}, tile ${at}: issued ${run.issued[tile]} ns after the first load of all, seen complete at ${run.landed[tile]} ns.`,
      };
    }),
  }));
}

export const HEAD = ["Block", "Rows", "SM", "First load issued, ns", "Tiles 0 to 6 seen complete, ns", "Elements that differ"];
export const tableOf = (spec, run) =>
  spec.down.map((row, block) => {
    const from = block * spec.tiles, to = from + spec.tiles;
    const seen = run.one
      ? [`${run.sm[block]}`, `${run.issued[from]}`, run.landed.slice(from, to).join(" "), `${run.differ.slice(from, to).reduce((sum, one) => sum + one, 0)}`]
      : ["–", "–", "–", "–"];
    return { key: block, cells: [`${block}`, `${row} to ${row + spec.tile[0] - 1}`, ...seen] };
  });
