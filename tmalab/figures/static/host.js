// The static host: it mounts a figure where no kernel runs, in the built book and in a page opened from a file.
// Each figure's own script hands over its module, the same text that anywidget runs, with `tmalab.figure`; `kit` (in
// scope: see bundle.py) is what all of them share.
//
//   <div class="tma-host" data-tma-esm="tile" data-tma-page="tile">     page: its name in the address, if it has one
//     <script type="application/json">state</script>                    what Python synced, told apart into what is
//     <script type="application/json" data-volatile>…</script>          compared in a regression run and what is not
//     still, sentence, provenance, table                                seen until the figure stands, or without it
//   </div>

// anywidget's model, as far as a page without a kernel can keep it.
class StaticModel {
  constructor(state, place) {
    this.state = state;
    this.place = place;
    this.listeners = new Map();
  }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (this.state[name] === value) return;
    this.state[name] = value;
    for (const listener of this.listeners.get("change:" + name) ?? []) listener();
  }
  save_changes() {}
  on(name, listener) { this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]); }
  off(name, listener) { this.listeners.set(name, (this.listeners.get(name) ?? []).filter((one) => one !== listener)); }
}

// Where the page's Python would come from, told by the book (see bundle.py): a page that is one file has none.
const home = document.currentScript?.src;
const python = typeof PYTHON === "object" && home ? { ...PYTHON, address: new URL(PYTHON.address, home).href } : null;

const taken = new Map();
function mount(host, figure) {
  host.dataset.tmaMounted = "";
  try {
    const scripts = [...host.querySelectorAll('script[type="application/json"]')];
    const state = Object.assign({}, ...scripts.map((script) => JSON.parse(script.textContent)));
    // Two figures of one name on a page are told apart by their order.
    const name = host.dataset.tmaPage ?? host.dataset.tmaEsm;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    const model = new StaticModel(state, { key: count > 1 ? `${name}-${count}` : name, page: host.dataset.tmaHref, python });
    const el = document.createElement("div");
    figure.render({ model, el });
    host.replaceChildren(el);
    if (model.place.restored) host.scrollIntoView({ block: "start", behavior: "instant" });
  } catch (error) {
    host.dataset.tmaFailed = String(error); // the still stays
    console.error(error);
  }
}

window.tmalab = {
  figure(name, make) {
    const figure = make(kit);
    const mountAll = () => {
      for (const host of document.querySelectorAll(`[data-tma-esm="${name}"]:not([data-tma-mounted])`)) mount(host, figure);
    };
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
    else mountAll();
  },
};
