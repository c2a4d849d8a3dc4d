// The page "Check my descriptor": recorded answers at once, any other from the worker once the reader has loaded it.
//
//   <div class="check" data-worker="address of worker.mjs, if the book has one">
//     form        hidden until this script runs
//     examples    what stands without it: <details data-example> question, answer, the answer as JSON </details>
//   </div>
//
// The question stands in the address behind "#", which is not sent to any server.

const root = document.querySelector(".check[data-check]");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const [form, text, choice, load, note, status, answer, links] =
  ["form", "text", "example", "load", "note", "status", "answer", "links"].map(part);

const LONGEST_LINK = 6000; // characters: longer addresses are cut by mail programs and chats
const CALL = "tmalab.checker.page:page_answer";
const PAUSE_MS = 150; // after the last key, before an answer
const SLOW_MS = 400; // an answer that takes longer is announced

// --- the recorded answers -------------------------------------------------------------------------------------------

const examples = [...root.querySelectorAll("[data-example]")].map((details) => ({
  name: details.dataset.example,
  text: details.querySelector(".check-question").textContent,
  source: details.querySelector(".check-source"),
  html: details.querySelector(".check-answer").outerHTML,
  json: details.querySelector("script").textContent,
}));
const same = (one, other) => other.length < LONGEST_LINK && one.trim() === other.replaceAll("\r\n", "\n").trim();
const arch = () => form.querySelector("input[name=arch]:checked").value;

// --- what the page can do -------------------------------------------------------------------------------------------

// file: a worker is refused there. none: the book was built without Pyodide. Else: off, loading, ready, failed.
let state = location.protocol === "file:" ? "file" : root.dataset.worker ? "off" : "none";
const SENTENCES = {
  file: "This page was opened from a file, and a browser starts no worker from there. Serve the book (make serve) to " +
    "check your own text, or use the command tmalab check. The examples' answers are recorded.",
  none: "This book was built without Pyodide, so the page shows recorded answers only. The command tmalab check " +
    "answers any text.",
  off: `${root.dataset.megabytes} MB, once. The checker then runs in this page, and what you paste stays in it.`,
  failed: "The recorded answers are here all the same, and so is the command tmalab check.",
};

function show(next, sentence = SENTENCES[next] ?? "") {
  state = root.dataset.state = next;
  const fixed = next === "file" || next === "none";
  note.textContent = sentence;
  load.hidden = fixed;
  load.setAttribute("aria-disabled", String(next === "loading")); // not disabled: the focus stays where it is
  load.textContent = { off: "Load the checker", loading: "Loading …", failed: "Try again" }[next] ?? "Check";
  text.readOnly = fixed;
  for (const radio of form.querySelectorAll("input[name=arch]")) radio.disabled = fixed && radio.value !== "sm_90";
}

// --- an answer on the page ------------------------------------------------------------------------------------------

let asJson = "";
function put(html, json, said) {
  asJson = json;
  answer.innerHTML = html; // made by tmalab/checker/markup.py, which escapes every word of the question
  answer.hidden = links.hidden = false;
  delete answer.dataset.stale;
  const verdict = answer.querySelector(".check-answer");
  const heard = document.createElement("span"); // the verdict is seen above, and heard here
  heard.className = "check-heard";
  heard.textContent = `${verdict.querySelector(".check-verdict").textContent}. `;
  status.replaceChildren(heard, said);
  text.setAttribute("aria-invalid", String(verdict.dataset.verdict === "unreadable"));
  if (verdict.dataset.line) verdict.append(button("Go to this place", () => select(verdict.dataset)));
  const code = verdict.querySelector(".check-host pre");
  if (code && navigator.clipboard) code.parentElement.prepend(copying(code.textContent));
  remember();
}

function button(label, act) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: label, className: "check-small", onclick: act });
  return made;
}

function copying(code) {
  const made = button("Copy", async () => {
    await navigator.clipboard.writeText(code);
    status.textContent = "The host code is copied.";
  });
  made.setAttribute("aria-label", "Copy the host code");
  return made;
}

function select({ line, column }) {
  const before = text.value.split("\n").slice(0, line - 1).join("\n");
  const at = before.length + (line > 1 ? 1 : 0) + Number(column) - 1;
  text.focus();
  text.setSelectionRange(at, Math.min(at + 1, text.value.length));
}

// --- asking ---------------------------------------------------------------------------------------------------------

let worker, asked = 0, answered = 0, sent = 0, waiting = false;

function ask() {
  const example = examples.find((one) => same(one.text, text.value));
  const recorded = arch() === "sm_90" ? example : undefined;
  choice.value = example?.name ?? "";
  part("source").replaceChildren(...(example?.source ? [example.source.cloneNode(true)] : []));
  if (!text.value.trim()) {
    answer.hidden = links.hidden = true;
    status.textContent = "";
    return remember();
  }
  if (state === "ready") return send();
  if (recorded) return put(recorded.html, recorded.json, "Recorded when the book was built.");
  answer.dataset.stale = "";
  status.textContent = state === "file" || state === "none" ? "" : "Not answered yet: load the checker.";
  remember();
}

// One question is on its way at a time; of those that come meanwhile the last is asked next.
function send() {
  if (answered < asked) return void (waiting = true);
  waiting = false;
  sent = performance.now();
  setTimeout((id) => answered < id && (status.textContent = "Checking …"), SLOW_MS, asked + 1);
  worker.postMessage({ id: ++asked, call: CALL, args: [text.value, JSON.stringify({ arch: arch() })] });
}

function receive({ data }) {
  if (data.stage) return show("loading", `Loading: ${data.stage} …`);
  if (data.ready) {
    root.dataset.readyMs = String(Math.round(performance.now() - clicked));
    show("ready", `Python ${data.python} runs in this page. What you paste stays in it.`);
    return ask();
  }
  if (data.failed && !data.id) return broken(data.failed);
  answered = data.id;
  if (data.failed) status.textContent = `The checker failed: ${data.failed}`;
  else {
    const made = JSON.parse(data.result);
    const took = performance.now() - sent;
    put(made.html, JSON.stringify(made.answer), `Answered in ${took < 10 ? took.toFixed(1) : Math.round(took)} ms.`);
    root.dataset.answerMs = took.toFixed(1);
    root.dataset.answered = String(data.id);
  }
  if (waiting) send();
}

function broken(why) {
  worker?.terminate();
  worker = undefined;
  show("failed", `The checker could not be loaded (${why}). ${SENTENCES.failed}`);
}

let clicked = 0;
function begin() {
  clicked = performance.now();
  asked = answered = 0;
  show("loading", "Loading: Python …");
  try {
    worker = new Worker(new URL(root.dataset.worker, location.href), { type: "module" });
    worker.onmessage = receive;
    worker.onerror = (event) => { event.preventDefault(); broken(event.message || "its worker did not start"); };
    worker.postMessage({ start: examples.map((example) => ({ call: CALL, args: [example.text, "{}"] })) });
  } catch (error) {
    broken(String(error.message ?? error));
  }
}

// --- the address ----------------------------------------------------------------------------------------------------

// A visit that asks nothing leaves the address as it is.
let written = location.hash, touched = false;
function remember() {
  const long = text.value.length > LONGEST_LINK || !text.value.trim();
  const said = !long ? `#text=${encodeURIComponent(text.value)}${arch() === "sm_90" ? "" : `&arch=${arch()}`}` : "";
  const short = said && said.length <= LONGEST_LINK;
  part("link").hidden = !short;
  part("link").href = said || "#";
  if (!touched || said === written) return;
  written = short ? said : "";
  history.replaceState(null, "", written || location.pathname + location.search);
}

function restore() {
  const said = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  if (!said.has("text")) return false;
  text.value = said.get("text");
  const radio = form.querySelector(`input[name=arch][value="${CSS.escape(said.get("arch") ?? "sm_90")}"]`);
  if (radio) radio.checked = true;
  return true;
}

// --- the page -------------------------------------------------------------------------------------------------------

let pause;
form.addEventListener("input", () => (touched = true));
text.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(ask, PAUSE_MS);
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
choice.addEventListener("change", () => {
  const example = examples.find((one) => one.name === choice.value);
  text.value = example?.text ?? "";
  form.querySelector("input[name=arch][value=sm_90]").checked = true;
  ask();
});
form.addEventListener("change", (event) => event.target.name === "arch" && ask());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(pause);
  if (state === "ready") ask();
  else if (state === "off" || state === "failed") begin();
});
part("json").addEventListener("click", (event) => {
  const made = URL.createObjectURL(new Blob([JSON.stringify(JSON.parse(asJson), null, 2) + "\n"], { type: "application/json" }));
  event.currentTarget.href = made;
  setTimeout(() => URL.revokeObjectURL(made), 10_000);
});
window.addEventListener("hashchange", () => location.hash !== written && restore() && ask());

form.hidden = false;
part("examples").hidden = true;
show(state);
if (!restore()) text.value = examples[0].text;
ask();
root.dataset.mounted = "";
