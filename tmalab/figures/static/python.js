// Python for a figure that computes: the kernel's where there is one, else a worker of the page, loaded on a click.
//
//   python.state   kernel | ready                 python.ask(text) answers with what `call` gives for `text`
//                  off | loading | failed         python.start() loads the worker
//                  file | none                    there is no worker to load: python.why says so
const WHY = {
  off: ({ megabytes }) => `Python, ${megabytes} MB, once`,
  loading: () => "Loading Python …",
  ready: () => "Python runs in this page",
  failed: () => "Python could not be loaded",
  file: () => "From a file no Python starts: recorded states only",
  none: () => "No Python here: recorded states only",
  kernel: () => "",
};

export function pythonOf(model, call, warmUp) {
  const { python: place } = model.place ?? {};
  const listeners = [], waiting = new Map();
  let number = 0, running = null;
  const python = {
    state: !model.place ? "kernel" : location.protocol === "file:" ? "file" : place ? "off" : "none",
    get why() { return WHY[python.state](place ?? {}); },
    get computes() { return python.state === "kernel" || python.state === "ready"; },
    onChange(listener) { listeners.push(listener); },
    start() {
      if (python.state !== "off" && python.state !== "failed") return;
      enter("loading");
      try {
        running = new Worker(place.address, { type: "module" });
        running.onmessage = ({ data }) => receive(data);
        running.onerror = (event) => {
          event.preventDefault();
          receive({ failed: event.message || "the worker did not start" });
        };
        running.postMessage({ start: [{ call, args: [warmUp] }] });
      } catch (error) {
        receive({ failed: String(error.message ?? error) });
      }
    },
    ask(text) {
      number += 1;
      const answer = new Promise((done, refuse) => waiting.set(number, { done, refuse }));
      if (python.state === "kernel") model.send({ number, question: text });
      else running.postMessage({ id: number, call, args: [text] });
      return answer;
    },
  };
  function enter(state) {
    python.state = state;
    for (const listener of listeners) listener();
  }
  function settle(id, result, failed) {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (failed) asked?.refuse(new Error(failed));
    else asked?.done(JSON.parse(result));
  }
  function receive(data) {
    if (data.ready) enter("ready");
    else if (data.id) settle(data.id, data.result, data.failed);
    else if (data.failed) {
      running?.terminate();
      for (const id of waiting.keys()) settle(id, null, data.failed);
      enter("failed");
    }
  }
  const fromKernel = (message) => message?.answer !== undefined && settle(message.number, message.answer);
  if (python.state === "kernel") model.on("msg:custom", fromKernel);
  python.dispose = () => {
    if (python.state === "kernel") model.off("msg:custom", fromKernel);
    running?.terminate();
  };
  return python;
}
