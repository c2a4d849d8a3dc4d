// Python in the page: the part of tmalab that needs no numpy, in a worker, loaded when the reader asks for it.
//
//   page ──{start: [call, …]}──────────────▶ worker ──{stage: "…"} …, then {ready: true, python} or {failed}──▶ page
//   page ──{id, call: "module:function", args: [text, …]}──▶ worker ──{id, result, ms} or {id, failed}──▶ page
//
// The calls of `start` are made once and thrown away, so that what they import is there when the reader waits for an
// answer. The worker asks the server that it came from for its own files, once; what it is given never leaves it.

const here = (name) => new URL(name, import.meta.url);

async function start(calls) {
  postMessage({ stage: "Python" });
  const { loadPyodide } = await import(here("pyodide/pyodide.mjs").href);
  // tmalab comes while Python does; its address carries a mark, so that another version of it is another file.
  const zip = fetch(here("tmalab.zip" + new URL(import.meta.url).search)).then((found) => {
    if (!found.ok) throw new Error(`tmalab.zip: ${found.status} ${found.statusText}`);
    return found.arrayBuffer();
  });
  const python = await loadPyodide({ indexURL: here("pyodide/").href });
  postMessage({ stage: "the checker" });
  python.unpackArchive(await zip, "zip");
  for (const { call, args } of calls) find(python, call)(...args);
  postMessage({ ready: true, python: python.runPython("import platform; platform.python_version()") });
  return python;
}

const functions = new Map();
function find(python, call) {
  if (!functions.has(call)) {
    const [module, name] = call.split(":");
    functions.set(call, python.pyimport(module)[name]);
  }
  return functions.get(call);
}

let running;
onmessage = async ({ data }) => {
  if (data.start) {
    running = start(data.start);
    running.catch((error) => postMessage({ failed: String(error.message ?? error) }));
    return;
  }
  try {
    const python = await running;
    const begun = performance.now();
    const result = find(python, data.call)(...data.args);
    postMessage({ id: data.id, result, ms: performance.now() - begun });
  } catch (error) {
    postMessage({ id: data.id, failed: String(error.message ?? error) });
  }
};
