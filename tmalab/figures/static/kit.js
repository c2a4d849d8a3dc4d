// What all figures share: controls, the cell grid, the card around them, the address, downloads.
import { readAddress, walk, writeAddress } from "./geometry.js";

const FOCUSABLE = new Set(["a", "button", "input", "select", "summary"]);

// An element. JupyterLab binds keys to whatever has the focus in a notebook ("d d" deletes the cell): an element that
// can have it says so itself, since the mark is not looked for on its parents first.
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  if (FOCUSABLE.has(tag) || "tabindex" in props) node.dataset.lmSuppressShortcuts = "true";
  node.append(...children);
  return node;
}

// Only what differs is written: a repaint of unchanged cells then costs no layout.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function put(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

// --- controls ---------------------------------------------------------------------------------------------------------
// Each is {node, paint}; paint shows what the model holds. Radio groups are told apart by the form that they stand in,
// so that no name or id can meet another figure's.

export function segments(model, name, legend, values, words = String) {
  const inputs = values.map((value) => h("input", { type: "radio", name, value, onchange: () => put(model, { [name]: value }) }));
  const labels = inputs.map((input, i) => h("label", {}, input, h("span", {}, words(values[i]))));
  const node = h("fieldset", { class: "tma-field" }, h("legend", {}, legend), h("div", { class: "tma-segments" }, ...labels));
  return { node, paint: () => inputs.forEach((input, i) => (input.checked = model.get(name) === values[i])) };
}

// words(value): what stands beside it, and what a screen reader says; without it the value and its unit.
export function slider(model, name, legend, label, values, unit, words = (value) => [`${value} ${unit[0].toUpperCase()}`, `${value} ${unit}`]) {
  const output = h("output");
  const input = h("input", {
    type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": label,
    oninput: () => put(model, { [name]: values[+input.value] }),
  });
  const node = h("label", { class: "tma-field" }, h("span", { class: "tma-legend" }, legend, " ", output), input);
  const paint = () => {
    input.value = values.indexOf(model.get(name));
    const [shown, said] = words(model.get(name));
    setAttribute(input, "aria-valuetext", said);
    setText(output, shown);
  };
  return { node, paint };
}

// --- the cell grid ----------------------------------------------------------------------------------------------------
// rows × cols cells, one of them in the tab order. `area` {row, col, rows, cols} is what the arrow keys reach; what lies
// outside it is drawn and not announced. onPoint(at) while the pointer is on a cell, onPoint(null) when it leaves the
// grid, onPick(at) on focus and on a press.

export function cellGrid({ label, rows, cols, before, after, onPoint, onPick }) {
  let area = { row: 0, col: 0, rows, cols };
  let stop = 0;
  const cells = [], lines = [];
  for (let row = 0; row < rows; row++) {
    const line = h("div", { role: "row", class: "tma-row" });
    if (before) line.append(before(row));
    for (let col = 0; col < cols; col++) {
      const cell = h("div", { class: "tma-cell", "data-at": row * cols + col }, h("b"), " ", h("small"));
      cell.dataset.lmSuppressShortcuts = "true";
      cells.push(cell);
      line.append(cell);
    }
    if (after) line.append(after(row));
    lines.push(line);
  }
  const at = (event) => {
    const cell = event.target.closest?.(".tma-cell");
    return cell?.getAttribute("role") === "gridcell" ? +cell.dataset.at : null;
  };
  const pick = (event) => at(event) !== null && onPick(at(event));
  const node = h("div", {
    role: "grid", "aria-label": label, class: "tma-grid",
    onpointerover: (event) => onPoint(at(event)),
    onpointerleave: () => onPoint(null),
    onfocusin: pick,
    onclick: pick,
    onkeydown: (event) => {
      const next = at(event) === null || event.ctrlKey || event.metaKey || event.altKey ? null : walk(event.key, at(event), cols, area);
      if (next === null) return;
      event.preventDefault();
      setStop(next);
      cells[next].focus();
    },
  }, ...lines);

  function setStop(next) {
    stop = next;
    cells.forEach((cell, i) => cell.hasAttribute("role") && setAttribute(cell, "tabindex", i === stop ? 0 : -1));
  }
  function setArea(next) {
    area = next;
    cells.forEach((cell, i) => {
      const row = Math.floor(i / cols) - area.row, col = (i % cols) - area.col;
      const inside = row >= 0 && row < area.rows && col >= 0 && col < area.cols;
      setAttribute(cell, "role", inside ? "gridcell" : null);
      setAttribute(cell, "aria-hidden", inside ? null : true);
      if (!inside) setAttribute(cell, "tabindex", null);
    });
    lines.forEach((line, row) => {
      const inside = row >= area.row && row < area.row + area.rows;
      setAttribute(line, "role", inside ? "row" : null);
      setAttribute(line, "aria-hidden", inside ? null : true);
      line.classList.toggle("tma-outside", !inside);
    });
  }
  setArea(area);
  setStop(0);
  return { node, cells, lines, setArea, setStop, hasFocus: () => node.contains(document.activeElement) };
}

// --- the card ---------------------------------------------------------------------------------------------------------

// The frame that every figure stands in: controls, stage, the sentence, the provenance with the links, the text table.
// `figure` gives: name, title, choices {name: values} (what the address may say), controls, stage (a node), paint(), and
// sentence(), provenance(), data(), table() ({head, rows}: rows of texts), more() ([{caption, head, rows}]) as they stand.
export function card(model, el, figure) {
  const names = Object.keys(figure.choices);
  const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const first = state();
  const share = address(model, first, figure.choices, state);

  const say = h("p", { class: "tma-say", role: "status" });
  const provenance = h("p", { class: "tma-prov", "data-volatile": true });
  const fileName = (suffix) => [figure.name, ...names.map((name) => [model.get(name)].flat().join("."))].join("-") + suffix;
  const links = h("p", { class: "tma-links" },
    ...share.links,
    h("button", { type: "button", onclick: () => save(fileName(".svg"), "image/svg+xml", picture(root)) }, "picture (SVG)"),
    h("button", { type: "button", onclick: () => save(fileName(".json"), "application/json", JSON.stringify(figure.data(), null, 1)) }, "data (JSON)"));
  const text = h("details", { class: "tma-text", ontoggle: () => paintTable() }, h("summary", {}, "The same as a table"),
    h("div", { class: "tma-scroll", tabindex: 0, role: "region", "aria-label": `${figure.title}: table` }));
  const root = h("div", { class: "tma", role: "group", "aria-label": figure.title },
    h("form", { class: "tma-bar", onsubmit: (event) => event.preventDefault() }, ...figure.controls.map((control) => control.node)),
    figure.stage, say, h("div", { class: "tma-foot" }, provenance, links), text);

  function paintTable() {
    if (!text.open) return; // built when first asked for, and again when the state changes
    const tables = [{ caption: figure.title, ...figure.table() }, ...(figure.more?.() ?? [])];
    text.lastChild.replaceChildren(...tables.map(({ caption, head, rows }) => h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, cell)))),
      h("tbody", {}, ...rows.map(({ cells, key }) => h("tr", { "data-key": key }, ...cells.map((cell) => h("td", {}, cell))))))));
    light();
  }
  // What the pointer or the focus singles out changes often; the state behind it does not.
  function light() {
    const hot = figure.light();
    setText(say, figure.sentence());
    if (text.open) for (const row of text.querySelectorAll("[data-key]")) row.classList.toggle("tma-hot", hot.has(+row.dataset.key));
  }
  function paint() {
    for (const control of figure.controls) control.paint();
    figure.paint();
    setText(provenance, figure.provenance());
    share.paint();
    paintTable();
    light();
  }
  for (const name of names) model.on("change:" + name, paint);
  paint();
  el.replaceChildren(root);
  return { light, repaint: paint, dispose: () => { for (const name of names) model.off("change:" + name, paint); share.dispose(); } };
}

// The state in the page's address: only a page without a kernel has one of its own (host.js gives it a place).
function address(model, first, choices, state) {
  const place = model.place;
  if (!place) return { links: [], paint() {}, dispose() {} };
  const restore = () => {
    const found = readAddress(location.hash, place.key, choices);
    place.restored = found !== null;
    if (found) put(model, { ...first, ...found });
  };
  const link = h("a", { href: "#" }, "link to this view");
  const page = place.page ? [h("a", { href: place.page }, "open as a page")] : [];
  let timer;
  const paint = () => {
    const here = writeAddress(location.hash, place.key, state(), first);
    link.href = here.includes(place.key + "=") ? here : `#${place.key}=`; // a bare "#" would lead to the page's top
    for (const one of page) one.href = place.page + writeAddress("", place.key.replace(/-\d+$/, ""), state(), first);
    // Late, because browsers refuse an address that changes with every move of a slider.
    clearTimeout(timer);
    timer = setTimeout(() => {
      const next = writeAddress(location.hash, place.key, state(), first);
      const plain = next === "#" && !location.hash.includes("=");
      if (!plain && next !== location.hash) history.replaceState(history.state, "", next);
    }, 150);
  };
  restore();
  addEventListener("hashchange", restore);
  return { links: [...page, link], paint, dispose: () => removeEventListener("hashchange", restore) };
}

// --- downloads --------------------------------------------------------------------------------------------------------

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const round = (value) => Math.round(value * 10) / 10;
const FIELD = "select, input[type=text], input[type=number]";

// The card as it is seen now, as an SVG that needs nothing else: its boxes and its lines of text, one by one.
export function picture(root) {
  root.classList.add("tma-drawn"); // for the moment without controls and links, as in print
  const frame = root.getBoundingClientRect();
  const classes = new Map();
  const shapes = [];
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) shapes.push(...textLines(node, frame, classes));
    else if (getComputedStyle(node).display !== "none") {
      shapes.push(outline(node, getComputedStyle(node), frame));
      if (node.matches(FIELD)) shapes.push(chosen(node, frame, classes));
      else node.childNodes.forEach(visit);
    }
  };
  visit(root);
  root.classList.remove("tma-drawn");
  const width = Math.ceil(frame.width), height = Math.ceil(frame.height);
  const styles = [...classes].map(([style, name]) => `.${name}{${style}}`).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">\n`
    + `<title>${escaped(root.getAttribute("aria-label"))}</title>\n<style>text{dominant-baseline:central}\n${escaped(styles)}</style>\n`
    + `${shapes.filter(Boolean).join("\n")}\n</svg>\n`;
}

// The box that an element paints: its background, and its outline or else its border.
function outline(node, style, frame) {
  const { left, top, width, height } = node.getBoundingClientRect();
  const x = left - frame.left, y = top - frame.top;
  const side = style.outlineStyle !== "none" ? "outline" : style.borderTopStyle !== "none" ? "borderTop" : null;
  const fill = style.backgroundColor === "rgba(0, 0, 0, 0)" ? "none" : style.backgroundColor;
  const line = side ? parseFloat(style[side + "Width"]) : 0;
  if (!width || !height || (fill === "none" && !line)) return "";
  if (side === "borderTop" && style.borderLeftStyle === "none") {
    return `<path d="M${round(x)} ${round(y)}h${round(width)}" stroke="${style.borderTopColor}"/>`;
  }
  const inset = side === "outline" ? -parseFloat(style.outlineOffset) - line / 2 : line / 2;
  const dash = { dashed: 2 * line, dotted: line }[side && style[side + "Style"]];
  const dashes = dash ? ` stroke-dasharray="${dash} ${line}"` : "";
  const stroke = line ? ` stroke="${style[side + "Color"]}" stroke-width="${line}"${dashes}` : "";
  return `<rect x="${round(x + inset)}" y="${round(y + inset)}" width="${round(width - 2 * inset)}" `
    + `height="${round(height - 2 * inset)}" rx="${parseFloat(style.borderRadius) || 0}" fill="${fill}"${stroke}/>`;
}

// The lines that a text node is broken into: its words, those at one height together, where the first one stands.
function textLines(node, frame, classes) {
  const range = document.createRange();
  const found = [];
  for (const match of node.data.matchAll(/\S+/g)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const { left, top, width, height } = range.getBoundingClientRect();
    if (!width) continue;
    if (found.length && Math.abs(found.at(-1).top - top) < 2) found.at(-1).text += " " + match[0];
    else found.push({ left, top, height, text: match[0] });
  }
  if (!found.length) return [];
  const look = lookOf(node.parentElement, classes);
  return found.map(({ left, top, height, text }) => textAt(left - frame.left, top - frame.top + height / 2, text, look));
}

// What a list or a field says: its text is none of the page's.
function chosen(node, frame, classes) {
  const text = node.matches("select") ? node.selectedOptions[0]?.textContent : node.value;
  const { left, top, height } = node.getBoundingClientRect(), { paddingLeft, borderLeftWidth } = getComputedStyle(node);
  if (!text || !height) return "";
  const x = left - frame.left + parseFloat(paddingLeft) + parseFloat(borderLeftWidth);
  return textAt(x, top - frame.top + height / 2, text, lookOf(node, classes));
}

const textAt = (x, y, text, look) => `<text x="${round(x)}" y="${round(y)}" class="${look}">${escaped(text)}</text>`;

// The class of an element's letters.
function lookOf(element, classes) {
  const style = getComputedStyle(element);
  const look = `font:${style.fontWeight} ${style.fontSize} ${style.fontFamily};fill:${style.color}`
    + (style.letterSpacing === "normal" ? "" : `;letter-spacing:${style.letterSpacing}`);
  if (!classes.has(look)) classes.set(look, `t${classes.size}`);
  return classes.get(look);
}
