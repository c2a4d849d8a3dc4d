// "Tiling and bank conflicts". Every number comes from Python (tiling_tables.py): from recorded bytes and cycles, and from
// the model. tiling_words.js looks them up and puts them into words; here they are drawn.
import { card, cellGrid, h, put, segments, setAttribute, setText, slider } from "./kit.js";
import { CHUNK_BYTES, HEAD, LINE_CHUNKS, costs, count, dataOf, held, lost, readTiling, refusal, results, sayChunk, sayPlace, tableOf, wrong } from "./tiling_words.js";

const TINTS = 8;
const BANKS = 4; // of a bank group: 16 bytes

function render({ model, el }) {
  const spec = model.get("spec");
  const provenance = model.get("provenance");
  const { grid, choices } = spec;
  const names = [...Object.keys(choices), "cell"];
  const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  let now = state(), found = readTiling(spec, now, provenance.counted), drawn = false;
  let pointed = null; // what the pointer singles out: {chunk} of the grid or {place} of shared memory; else the picked one

  const singled = () => pointed ?? { chunk: now.cell[0] * grid.columns + now.cell[1] };
  const about = (what) => { pointed = what; frame.light(); };
  const pick = (chunk) => {
    pointed = null;
    model.set("cell", [Math.floor(chunk / grid.columns), chunk % grid.columns]);
    model.save_changes();
    frame.light();
  };
  // A drawn row of shared memory is two lines of 128 bytes, each of which begins where the layout says.
  const placeAt = (at) => found.layout.starts[Math.floor(at / grid.columns)][Math.floor((at % grid.columns) / LINE_CHUNKS)] + (at % LINE_CHUNKS);
  const drawnAt = (place) => found.layout.starts.flat().findIndex((start) => place >= start && place < start + LINE_CHUNKS) * LINE_CHUNKS + (place % LINE_CHUNKS);
  const what = (at) => (found.shown[placeAt(at)] >= 0 ? { chunk: found.shown[placeAt(at)] } : { place: placeAt(at) });

  const label = (list, kind, text = () => "") => (row) => (list[row] = h("span", { class: kind, "aria-hidden": true }, text(row)));
  const rows = [], left = [], right = [];
  const source = cellGrid({
    label: `${spec.title}: the grid`, rows: grid.rows, cols: grid.columns, before: label(rows, "tma-address", String),
    onPoint: (at) => about(at === null ? null : { chunk: at }), onPick: pick,
  });
  const shared = cellGrid({
    label: `${spec.title}: shared memory`, rows: grid.rows, cols: grid.columns, before: label(left, "tma-address"), after: label(right, "tma-phase"),
    onPoint: (at) => about(at === null ? null : what(at)), onPick: (at) => ("chunk" in what(at) ? pick(what(at).chunk) : about(what(at))),
  });
  const chosen = h("div", { class: "tma-tiling-frame", "aria-hidden": true });
  const span = (text) => h("span", {}, text);
  const list = (length, make) => Array.from({ length }, (_, i) => make(i));
  const ruler = list(grid.columns, (column) => span(`S${column % LINE_CHUNKS}`));
  const halves = [h("span"), h("span")], note = h("small"), copy = h("p"), rule = h("p"), words = h("p");
  const keys = { source: h("p", { class: "tma-key" }), shared: h("p", { class: "tma-key" }) };

  // The chart: each bank group with its four banks, and below it the reads that want it.
  const stacks = list(LINE_CHUNKS, () => h("div", { class: "tma-tiling-stack" }));
  const groups = list(LINE_CHUNKS, (group) => h("div", { class: "tma-tiling-group" }, h("b", {}, `S${group}`),
    h("span", { class: "tma-tiling-banks" }, ...list(BANKS, (bank) => span(String(BANKS * group + bank)))),
    h("span", { class: "tma-tiling-span" }, spec.banks[group]), stacks[group]));
  const chart = h("div", {
    class: "tma-tiling-chart", "aria-hidden": true,
    onpointerover: (event) => about(event.target.closest?.("[data-chunk]") ? { chunk: +event.target.closest("[data-chunk]").dataset.chunk } : null),
    onpointerleave: () => about(null),
  }, h("div", { class: "tma-tiling-group" }, h("b", {}, "\u00a0"), h("span", {}, "bank")), ...groups);
  const told = { formula: h("code"), results: h("code"), costs: h("div"), cycles: h("p", { "data-volatile": true }), pace: h("small") };
  const reads = h("small");
  const stage = h("div", { class: "tma-stage tma-tiling" },
    h("div", { class: "tma-tiling-copy" }, copy, rule, words),
    h("div", { class: "tma-tiling-source" }, h("p", { class: "tma-head" }, h("b", {}, "The grid"), " ", h("small", {}, "in global memory, 256 bytes a row")),
      h("div", { class: "tma-row tma-ruler", "aria-hidden": true }, h("span"), ...list(grid.columns, (column) => span(String(column)))),
      h("div", { class: "tma-tiling-framed" }, source.node, chosen), keys.source),
    h("div", { class: "tma-tiling-shared" }, h("p", { class: "tma-head" }, h("b", {}, "Shared memory"), " ", note),
      h("div", { class: "tma-row tma-ruler", "aria-hidden": true }, halves[0], ...ruler, halves[1]), shared.node, keys.shared),
    h("div", { class: "tma-tiling-reads" },
      h("div", {}, h("p", { class: "tma-head" }, h("b", {}, "Eight reads of 16 bytes"), " ", reads), chart),
      h("div", { class: "tma-tiling-told", role: "status" }, told.formula, told.results, told.costs, told.cycles, told.pace)));

  function cell(node, kinds, tint, main, words) {
    setAttribute(node, "class", ["tma-cell", ...kinds.filter(Boolean).map((kind) => `tma-${kind}`)].join(" "));
    setAttribute(node, "style", tint === null ? null : `--tint:var(--tma-c${tint % TINTS})`);
    setText(node.firstChild, main);
    setAttribute(node, "aria-label", words);
  }

  function paintSource() {
    source.cells.forEach((node, chunk) => {
      const column = chunk % grid.columns, gone = lost(found, chunk), [place] = found.expected[chunk];
      const equal = now.view === "difference" && !gone;
      const words = `${column}, row ${Math.floor(chunk / grid.columns)}, shared byte ${place * CHUNK_BYTES}${gone ? ", differs" : ""}`;
      cell(node, [gone ? "wrong" : equal && "equal"], equal ? null : column, String(column), words);
    });
    chosen.setAttribute("style", `--x:${now.column};--y:${now.first_row}`);
  }

  function paintShared() {
    shared.cells.forEach((node, at) => {
      const place = placeAt(at), chunk = found.shown[place], differs = wrong(found, place);
      const [main, said] = [chunk, found.model[place]].map((one) => (one >= 0 ? String(one % grid.columns) : "?"));
      const difference = now.view === "difference", equal = difference && !differs, text = difference && differs ? `${main}≠${said}` : main;
      const kinds = [differs ? "wrong" : equal ? "equal" : chunk < 0 && "out", found.reads.includes(chunk) && "tiling-read"];
      const more = differs ? `, differs: the model says ${held(found, found.model, place)}` : "";
      cell(node, kinds, chunk >= 0 && !equal ? chunk : null, text, `${text}, shared byte ${place * CHUNK_BYTES}: ${held(found, found.shown, place)}${more}`);
    });
    found.layout.starts.forEach(([one, other], row) => {
      setText(left[row], String(one * CHUNK_BYTES));
      setText(right[row], String(other * CHUNK_BYTES));
    });
    shared.node.parentElement.classList.toggle("tma-tiling-split", now.tiling === "yes");
    halves.forEach((node, half) => setText(node, now.tiling === "yes" ? `g${half}` : ""));
  }

  function paintChart() {
    stacks.forEach((stack, group) => {
      const equal = now.view === "difference";
      stack.replaceChildren(...found.stacks[group].map((chunk) => {
        const kind = equal ? (lost(found, chunk) ? " tma-wrong" : " tma-equal") : "";
        return h("div", { class: `tma-cell${kind}`, style: equal ? null : `--tint:var(--tma-c${chunk % TINTS})`, "data-chunk": chunk },
          h("b", {}, `row ${Math.floor(chunk / grid.columns)}`));
      }));
      groups[group].classList.toggle("tma-tiling-used", found.stacks[group].length > 0);
    });
    const last = now.first_row + grid.reads - 1;
    setText(reads, `column ${now.column}, rows ${now.first_row} to ${last}, by the banks they want`);
    setText(told.formula, found.layout.formula);
    setText(told.results, results(found));
    told.costs.replaceChildren(...costs(found).map((words) => h("p", {}, words)));
    const cycles = now.view === "model" ? null : timed();
    setText(told.cycles, cycles ? `${provenance.gpu}: data after ${cycles.latency_cycles.toFixed(1)} cycles, one read every ${cycles.cycles.toFixed(1)}` : "");
    setText(told.pace, spec.paces[found.predicted]);
  }

  function paintCopy() {
    const { refused } = found;
    copy.replaceChildren(h("code", {}, refused ? refused.copy : found.copy.copy), " ",
      h("b", { class: refused ? "tma-tiling-no" : null }, refused ? refusal(refused) : "accepted"));
    rule.replaceChildren(...(refused ? [h("code", {}, refused.rule), `: ${refused.message}`] : []));
    setText(words, found.copy.about);
    setText(keys.source, spec.keys[choices.dtype.indexOf(now.dtype)]);
    setText(keys.shared, found.layout.same);
  }

  function sharedNote() {
    if (now.view === "model") return "as the model predicts it";
    if (!found.measured) return "model, not measured";
    return now.view === "difference" || found.unequal.size ? count(found) : `as the ${provenance.gpu} left it`;
  }

  function light() {
    const { chunk, place } = singled();
    const hot = new Set(chunk === undefined ? [place] : [...found.at[chunk], ...found.expected[chunk]]);
    const toggle = (node, on) => node.classList.toggle("tma-hot", on);
    source.cells.forEach((node, at) => toggle(node, at === chunk));
    shared.cells.forEach((node, at) => toggle(node, hot.has(placeAt(at))));
    const spots = [...new Set([...hot].map(drawnAt))];
    ruler.forEach((node, column) => toggle(node, spots.some((at) => at % grid.columns === column)));
    rows.forEach((node, row) => toggle(node, chunk !== undefined && Math.floor(chunk / grid.columns) === row));
    [left, right].forEach((some, half) => some.forEach((node, row) =>
      toggle(node, spots.some((at) => Math.floor(at / grid.columns) === row && Math.floor((at % grid.columns) / LINE_CHUNKS) === half))));
    chart.querySelectorAll("[data-chunk]").forEach((node) => toggle(node, +node.dataset.chunk === chunk));
    groups.forEach((node, group) => toggle(node, [...hot].some((one) => one % LINE_CHUNKS === group)));
    return hot;
  }

  function paint() {
    const before = found;
    now = state();
    found = readTiling(spec, now, provenance.counted);
    if (before.number !== found.number) pointed = null;
    // The chunk that is singled out goes with the reads where it is one of them, and that is then painted; but not when
    // the page's address has both.
    const lane = before.reads.indexOf(now.cell[0] * grid.columns + now.cell[1]), chunk = found.reads[lane], moved = before.reads[lane] !== chunk;
    if (lane >= 0 && moved && drawn) return put(model, { cell: [Math.floor(chunk / grid.columns), chunk % grid.columns] });
    drawn = true;
    paintCopy();
    paintSource();
    paintShared();
    paintChart();
    const { chunk: one = 0 } = singled();
    source.setStop(one);
    shared.setStop(drawnAt(found.at[one][0] ?? found.expected[one][0]));
    setText(note, sharedNote());
    note.classList.toggle("tma-unmeasured", !found.measured && now.view !== "model");
  }

  // As TilingFigure.cycles() and its source() say it.
  function timed() {
    return provenance.reads && { latency_cycles: provenance.reads.latency_cycles[found.number], cycles: provenance.reads.cycles[found.number] };
  }
  function measured() {
    const of = provenance.of[found.source], cycles = timed();
    const seen = of >= 0 ? provenance.lines[of] : "model, not measured";
    if (!cycles) return `Bytes: ${seen}. Cycles: not measured.`;
    return `Bytes: ${seen}. Cycles (data after ${cycles.latency_cycles.toFixed(1)}, one read every ${cycles.cycles.toFixed(1)}): ${provenance.reads.line}.`;
  }

  const frame = card(model, el, {
    name: spec.name, title: spec.title,
    choices: { ...choices, cell: list(grid.rows * grid.columns, (chunk) => [Math.floor(chunk / grid.columns), chunk % grid.columns]) },
    controls: [
      segments(model, "tiling", "Tiling", choices.tiling),
      segments(model, "swizzle", "Swizzle", choices.swizzle),
      slider(model, "column", "Column", "Column that is read", choices.column, "", (column) => [String(column), `column ${column}`]),
      slider(model, "first_row", "Rows", "First of the eight rows", choices.first_row, "", (row) => [`${row}–${row + grid.reads - 1}`, `rows ${row} to ${row + grid.reads - 1}`]),
      segments(model, "dtype", "Element type", choices.dtype),
      segments(model, "view", "View", choices.view),
    ],
    stage, paint, light, provenance: measured,
    sentence: () => ("chunk" in singled() ? sayChunk(spec, found, singled().chunk) : sayPlace(spec, found, singled().place)),
    data: () => ({
      schema: spec.schema, figure: spec.name, title: spec.title, state: now, provenance: measured(),
      measured: timed(), ...dataOf(found),
    }),
    table: () => ({ head: HEAD, rows: tableOf(spec, found) }),
  });
  return frame.dispose;
}

export default { render };
