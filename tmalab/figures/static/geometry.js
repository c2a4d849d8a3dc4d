// Pure functions: no document, no window. `node --test tests/js` runs them without a browser.

// What a chunk of shared memory can hold besides a chunk of the tensor.
export const UNTOUCHED = -1;
export const CHANGED = -2;

// The chunks of one state, from "first:body" with two characters a chunk (tile_tables.pack wrote them):
// two hex digits name a chunk of the tensor, ".." is untouched, "!!" holds bytes that are no chunk's.
export function unpack(text, count) {
  const chunks = new Array(count).fill(UNTOUCHED);
  const [first, body] = text.split(":");
  for (let i = 0; i < body.length / 2; i++) {
    const pair = body.slice(2 * i, 2 * i + 2);
    chunks[+first + i] = pair === ".." ? UNTOUCHED : pair === "!!" ? CHANGED : parseInt(pair, 16);
  }
  return chunks;
}

// Where a state stands in a list of all states, the last choice varying fastest; choices: [[name, values], …].
export function stateIndex(choices, state) {
  return choices.reduce((index, [name, values]) => index * values.length + values.indexOf(state[name]), 0);
}

// Where `key` leads from cell `at` of a grid that is `cols` wide, staying inside `area` {row, col, rows, cols}
// of it; null where the key is not the grid's.
export function walk(key, at, cols, area) {
  const top = area.row, left = area.col, bottom = top + area.rows - 1, right = left + area.cols - 1;
  let row = Math.floor(at / cols), col = at % cols;
  switch (key) {
    case "ArrowUp": row -= 1; break;
    case "ArrowDown": row += 1; break;
    case "ArrowLeft": col -= 1; break;
    case "ArrowRight": col += 1; break;
    case "Home": col = left; break;
    case "End": col = right; break;
    default: return null;
  }
  return Math.min(Math.max(row, top), bottom) * cols + Math.min(Math.max(col, left), right);
}

// A CSS track list of `total` tracks in which those of the box keep their size and the others may shrink.
export function tracks(first, count, total) {
  const part = (n, size) => (n > 0 ? `repeat(${n}, minmax(0, ${size})) ` : "");
  return (part(first, "var(--out)") + part(count, "var(--in)") + part(total - first - count, "var(--out)")).trim();
}

// A figure's state in the page's address, "#tile=swizzle:64B,base:256": one parameter a figure, and in it only what
// differs from the figure's first state. A fragment without "=" is an ordinary anchor and says nothing of a figure.
// `choices` has for each name its values, or a function that reads one from its text (undefined: it is none).
const parts = (hash) => hash.replace(/^#/, "").split("&").filter((part) => part.includes("="));
// What a reader typed may hold any sign: those that part an address, or that a browser would change, are escaped.
const word = (value) => (Array.isArray(value) ? value.join(".") : String(value).replace(/[^\w.;*()+~-]/gu, encodeURIComponent));
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a "%" of the reader's own making
  }
}

export function readAddress(hash, key, choices) {
  const mine = parts(hash).find((part) => part.startsWith(key + "="));
  if (mine === undefined) return null;
  const state = {};
  for (const entry of mine.slice(key.length + 1).split(",")) {
    const [name, text] = entry.split(":");
    const allowed = Object.hasOwn(choices, name) ? choices[name] : [];
    const value = typeof allowed === "function" ? allowed(unescaped(text ?? "")) : allowed.find((one) => word(one) === text);
    if (value !== undefined) state[name] = value;
  }
  return state;
}

export function writeAddress(hash, key, state, first) {
  const others = parts(hash).filter((part) => !part.startsWith(key + "="));
  const changed = Object.keys(first).filter((name) => word(state[name]) !== word(first[name]));
  const mine = changed.map((name) => `${name}:${word(state[name])}`).join(",");
  return "#" + [...others, ...(mine ? [`${key}=${mine}`] : [])].join("&");
}
