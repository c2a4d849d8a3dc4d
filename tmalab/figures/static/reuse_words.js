// "When may I reuse the buffer?" in numbers and words: one combination read out of the tables, as reuse_state.py reads it
// for the still. No document here: node tests it.
const TIMES = ["issued", "wait_low", "wait_median", "wait_high", "overwritten", "done"];

// What reuse_tables.pack_runs packed: equal neighbours once with their count.
export function unpackRuns(text) {
  return text.split(" ").flatMap((run) => {
    const [value, many = 1] = run.split("*");
    return new Array(+many).fill(+value);
  });
}

export function readReuse(spec, provenance, state) {
  const { stores, wait, n } = state, commits = state.commits & ((1 << stores) - 1);
  const waitNumber = wait === "none" ? 0 : 1 + n + (wait === "full" ? spec.choices.n.length : 0);
  const number = ((1 << stores) - 2 + commits) * spec.waits + waitNumber;
  const [numbers, said] = spec.model[number], [verdict, fix] = spec.said[said];
  const letters = [...numbers].map((one) => "cpon"[one]); // covered, pending, open, nothing waits
  const run = provenance.runs[stores - 1], seen = provenance.states[number], counts = seen && unpackRuns(seen[2]);
  const found = {
    spec, state, stores, commits, letters, verdict, fix, run, seen, counts, groups: spec.groups[(1 << stores) - 2 + commits],
    wait: wait === "none" ? "" : `wait_group${wait === ".read" ? ".read" : ""} ${n}`,
    source: run ? provenance.lines[run.line] : "Model, not measured: there is no recording of this.",
  };
  found.line = Math.min(Math.floor(state.line / spec.lines), stores - 1) * spec.lines + (state.line % spec.lines);
  found.unequal = (counts ?? []).flatMap((count, cell) => (count && covered(found, cell) ? [cell] : []));
  return found;
}

export const covered = (found, cell) => found.letters[Math.floor(cell / found.spec.lines)] === "c";

export function program(found) {
  const steps = Array.from({ length: found.stores }, (_, i) => [`store ${i}`, ...((found.commits >> i) & 1 ? ["commit_group"] : [])]);
  return [...steps.flat(), ...(found.wait ? [found.wait] : []), "overwrite"];
}

export function fate(found, store) {
  const where = found.groups[store] < 0 ? "in no group" : `group ${found.groups[store]}`;
  return where + { c: ", waited for", p: ", left pending", o: "", n: ", no wait" }[found.letters[store]];
}

export function hits(found, store) {
  if (found.state.view === "model") return found.letters[store] === "c" ? "safe" : "may be overwritten";
  return found.seen ? `overwritten in ${found.seen[1][store]} of ${found.run.rounds} rounds` : "not measured";
}

export function says(found) {
  const told = `BarrierProgram says: ${found.verdict}.${found.fix ? ` Fix: ${found.fix}.` : ""}`;
  return found.seen ? `${told} Seen: overwritten bytes in ${found.seen[0]} of ${found.run.rounds} rounds.` : `${told} Model, not measured.`;
}

export function note(found) {
  if (!found.seen) return "model, not measured";
  const safe = found.spec.lines * found.letters.filter((letter) => letter === "c").length;
  return !safe ? "the wait covers no line" : `${found.unequal.length} of ${safe} lines that the wait covers were overwritten`;
}

export function sentence(found, cell = found.line) {
  const { lines } = found.spec, { n, view } = found.state, store = Math.floor(cell / lines), letter = found.letters[store];
  const left = n === 1 ? "newest group pending, which is its own" : `newest ${n} groups pending, its group ${found.groups[store]} among them`;
  const why = {
    c: `${found.wait} waits for its group, ${found.groups[store]}.`,
    p: `${found.wait} leaves the ${left}.`,
    o: "no commit_group follows it, so no wait waits for it.",
    n: "nothing waits for it.",
  }[letter];
  const head = `Store ${store}, line ${cell % lines}: ${why}`;
  if (view === "model" || !found.counts) {
    const told = letter === "c" ? "It is safe." : "It may be overwritten before the engine has read it.";
    return `${head} ${told}${found.counts ? "" : " Model, not measured."}`;
  }
  const count = found.counts[cell];
  const more = letter === "c" && count ? " The model says never." : letter !== "c" && !count ? " A race all the same." : "";
  return `${head} It reached global memory overwritten in ${count} of ${found.run.rounds} rounds.${more}`;
}

// Who did what when, in cycles since the first issue, as lanes.js takes it.
export function lanesOf(found) {
  if (!found.seen) return [];
  const [issue, low, middle, high, over, done] = found.seen[3], { rounds } = found.run, wait = found.wait || "no wait";
  return [
    { name: "thread 0", note: "issues and waits", marks: [
      { key: "issue", from: 0, to: issue, text: "issue", kind: "solid", say: `${found.stores} ${found.stores > 1 ? "stores" : "store"} and the commits were issued in ${issue} cycles.` },
      { key: "wait", from: issue, to: middle, text: wait, kind: "hatch", say: `${found.wait ? `The ${wait}` : "Without a wait, thread 0"} was done after ${middle} cycles (median of ${rounds} rounds).` },
      { key: "last", from: over, to: done, text: "", kind: "soft", say: `The kernel's last wait, for everything, returned after ${done} cycles.` },
    ] },
    { name: "all threads", note: "the last store first", marks: [
      { key: "over", from: middle, to: over, text: "overwrite", kind: "outline", say: `The buffer was overwritten from ${middle} to ${over} cycles, the last store's part first.` },
    ] },
    { name: `${rounds} rounds`, note: "end of the wait", marks: [
      { key: "band", from: low, to: high, text: "", kind: "soft", say: `Of ${rounds} rounds, four in five ended the wait between ${low} and ${high} cycles.` },
      { key: "median", from: middle, text: "", kind: "solid", say: `Half of ${rounds} rounds had ended the wait by ${middle} cycles.` },
    ] },
  ];
}

export const HEAD = ["Store", "Lines", "Its group", "Overwritten, rounds", "The model says", "Equal"];
export function tableOf(found) {
  const { lines } = found.spec;
  const compared = (store, count) => {
    const safe = found.letters[store] === "c", model = safe ? "never" : "possible";
    return count === null ? ["not measured", model, "–"] : [`${count} of ${found.run.rounds}`, model, safe && count ? "differs" : "equal"];
  };
  const rows = [];
  for (let store = 0; store < found.stores; store++) {
    const mine = found.counts ? found.counts.slice(store * lines, (store + 1) * lines) : new Array(lines).fill(null);
    for (let line = 1, start = 0; line <= lines; line++) {
      if (line < lines && mine[line] === mine[start]) continue;
      rows.push({ key: store * lines + start, cells: [`${store}`, `${start} to ${line - 1}`, fate(found, store), ...compared(store, mine[start])] });
      start = line;
    }
  }
  return rows;
}

export function dataOf(found) {
  const times = found.seen && Object.fromEntries(TIMES.map((name, i) => [name, found.seen[3][i]]));
  return {
    program: program(found), verdict: found.verdict, fix: found.fix, rounds_seen: found.seen ? found.seen[0] : null, cycles: times,
    table: tableOf(found).map(({ cells }) => Object.fromEntries(HEAD.map((head, i) => [head, cells[i]]))),
  };
}

// The shade of a line: 0 for none, else 1 to 7 of the ramp.
export const shade = (count, rounds) => Math.ceil((7 * count) / rounds);
