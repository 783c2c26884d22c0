/* The page: its bar, its views, the keyboard, and the history of addresses. */

import { call, isServerThere } from "./api.js";
import { Ask } from "./ask.js";
import { listValues } from "./filters.js";
import { Graph } from "./graph.js";
import { Dialog, follow, isWide, useLoaded, useSettled } from "./parts.js";
import { html, render, useEffect, useRef, useState } from "./preact.js";
import { Reader } from "./reader.js";
import { VIEWS, dropFilters, formatRoute, parseRoute } from "./route.js";
import { Results, isSearchable, loadHits, moveFocus } from "./search.js";
import { Status } from "./status.js";
import { Timeline } from "./timeline.js";

const TYPING_MS = 20; // between two letters of a word there is no search
const PREVIEW_MS = 120;
const RETRY_MS = 2000;

const page = {
  allowWrite: document.body.dataset.allowWrite === "true",
  canOpen: document.body.dataset.canOpen !== "false",
};

function applyTheme(theme) {
  document.documentElement.style.colorScheme = theme === "auto" ? "" : theme;
  dispatchEvent(new Event("kebab-theme"));
}

const stored = (key, fallback) => localStorage.getItem(`kebab-${key}`) || fallback;
const store = (key, value) => localStorage.setItem(`kebab-${key}`, value);

/** Keep the state that the address holds; going back restores it. */
function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.href, history.state));
  useEffect(() => {
    const restore = () => setRoute(parseRoute(location.href, history.state));
    addEventListener("popstate", restore);
    return () => removeEventListener("popstate", restore);
  }, []);
  const navigate = (changes, replace = false) => {
    const next = { ...parseRoute(location.href, history.state), ...changes };
    const address = formatRoute(next);
    const isSame = address === location.pathname + location.search;
    const state = { quote: next.quote };
    if (replace || isSame) history.replaceState(state, "", address);
    else history.pushState(state, "", address);
    setRoute(next);
  };
  return [route, navigate];
}

function Bar({ route, text, onText, onEnter, onNavigate, onHelp }) {
  const [theme, setTheme] = useState(stored("theme", "auto"));
  const turnTheme = () => {
    const next = { auto: "dark", dark: "light", light: "auto" }[theme];
    setTheme(next);
    store("theme", next);
    applyTheme(next);
  };
  const submit = (event) => {
    event.preventDefault();
    onEnter();
  };
  const home = { ...dropFilters(route), view: "search", q: "", doc: "", at: "", quote: "" };
  return html`<a class="brand" href="/" onClick=${follow(() => onNavigate(home))}>kebab</a>
    <form role="search" action="/" method="get" onSubmit=${submit}>
      <input
        id="q"
        name="q"
        type="search"
        aria-label="Search your notes"
        placeholder="Search your notes"
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        dir="auto"
        value=${text}
        onInput=${(event) => onText(event.target.value)}
      />
    </form>
    <nav aria-label="Views">
      ${Object.entries(VIEWS).map(([view, label]) => {
        const target = { ...route, view };
        return html`<a
          href=${formatRoute(target)}
          aria-current=${route.view === view ? "page" : null}
          onClick=${follow(() => onNavigate({ view }))}
          >${label}</a
        >`;
      })}
    </nav>
    <button type="button" class="plain" onClick=${turnTheme} title=${`Colours: ${theme}`}>
      <span aria-hidden="true">◐</span><span class="sr">Colours: ${theme}</span>
    </button>
    <button type="button" class="plain" aria-label="Keyboard" onClick=${onHelp}>?</button>`;
}

const KEYS = [
  ["/", "go to the search field"],
  ["↓ ↑", "the next or previous hit"],
  ["Enter", "open the hit, and read"],
  ["Esc", "back: reader, list, search field"],
  ["o", "open the document in the editor"],
  ["r", "review the document"],
  ["1 to 5", "search, ask, timeline, links, status"],
  ["?", "this list"],
];

function Help({ letters, onLetters, onClose }) {
  return html`<${Dialog} label="Keyboard" onClose=${onClose}>
    <h2>Keyboard</h2>
    <dl class="keys">
      ${KEYS.map(
        ([key, meaning]) =>
          html`<div>
            <dt><kbd>${key}</kbd></dt>
            <dd>${meaning}</dd>
          </div>`,
      )}
    </dl>
    <label class="option">
      <input
        type="checkbox"
        checked=${letters}
        onChange=${(event) => onLetters(event.target.checked)}
      />
      single keys work outside of fields
    </label>
    <div class="buttons">
      <button type="button" class="primary" onClick=${onClose}>Close</button>
    </div>
  <//>`;
}

/** Run the action of a key that is pressed outside of a field; return whether there was one. */
function runKey(key, actions, letters) {
  const { onHelp, onView } = actions;
  if (!letters && key !== "Escape" && !key.startsWith("Arrow")) return false;
  if (key === "/") {
    document.getElementById("q").select();
    document.getElementById("q").focus();
  } else if (key === "?") onHelp();
  else if (key === "o") document.getElementById("edit")?.click();
  else if (key === "r") document.getElementById("review")?.click();
  else if (/^[1-5]$/.test(key)) onView(Object.keys(VIEWS)[Number(key) - 1]);
  else return false;
  return true;
}

/** Listen to the keyboard of the whole page. */
function useKeys(actions, letters) {
  const current = useRef(null);
  current.current = { actions, letters };
  useEffect(() => {
    const listen = (event) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      const { target, key } = event;
      const inQuery = target.id === "q";
      const inField = target.matches?.("input, textarea, select");
      const inList = inQuery || target.closest?.("#results");
      if ((key === "ArrowDown" || key === "ArrowUp") && inList && (inQuery || !inField)) {
        event.preventDefault();
        // Hits that are about to be replaced would take the focus with them.
        if (!document.querySelector("#results[aria-busy=true]")) moveFocus(key === "ArrowDown" ? 1 : -1);
      } else if (key === "Escape") {
        event.preventDefault();
        current.current.actions.onEscape(target);
      } else if (!inField && runKey(key, current.current.actions, current.current.letters)) {
        event.preventDefault();
      }
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

/** Search again by itself once a server that did not answer is back. */
function useReturn(error, reload) {
  useEffect(() => {
    if (error?.code !== "server_away") return undefined;
    const timer = setInterval(async () => (await isServerThere()) && reload(), RETRY_MS);
    return () => clearInterval(timer);
  }, [error]);
}

function App({ start }) {
  const [route, navigate] = useRoute();
  const [text, setText] = useState(start.text);
  const [help, setHelp] = useState(false);
  const [letters, setLetters] = useState(stored("letters", "on") === "on");
  const [said, announce] = useState("");
  const [focus, setFocus] = useState(false);
  const [isEntered, setEntered] = useState(true);
  const preview = useRef(0);
  const settled = useSettled(text, TYPING_MS);
  const isEmpty = !settled.trim();
  const isTyping = settled !== text;
  const isPartial = !isEmpty && !isEntered && !isSearchable(settled);
  const base = useLoaded("base", loadBase);
  const { doc, at, quote, view, ...searched } = route;
  const asked = view === "search" && !isPartial ? { ...searched, q: settled } : null;
  const found = useLoaded(asked && JSON.stringify(asked), (signal) =>
    start.hits?.key === JSON.stringify(asked) ? start.takeHits() : loadHits({ ...route, ...asked }, signal),
  );
  useReturn(found.error, () => [found.reload(), base.reload()]);
  useEffect(() => {
    if (route.q === text) return;
    setText(route.q);
    setEntered(true);
  }, [route.q]);
  useEffect(() => {
    if (view === "search" && settled === text && settled !== route.q) {
      navigate({ q: settled }, true);
    }
  }, [settled]);
  useEffect(() => {
    document.title = route.q ? `${route.q} – kebab` : `kebab – ${VIEWS[view]}`;
  }, [route.q, view]);
  useEffect(() => {
    if (!said) return undefined;
    const timer = setTimeout(() => announce(""), 6000);
    return () => clearTimeout(timer);
  }, [said]);

  const open = (hit, replace = false) => {
    clearTimeout(preview.current);
    setFocus(!replace);
    navigate({ doc: hit.doc_id, at: hit.chunk_id || "", quote: hit.quote || "" }, replace);
    if (!replace && hit.doc_id === doc) document.getElementById("reader")?.focus();
  };
  const onPreview = (hit) => {
    clearTimeout(preview.current);
    if (isWide()) {
      preview.current = setTimeout(() => open(hit, true), PREVIEW_MS);
    }
  };
  const close = () => {
    navigate({ doc: "", at: "", quote: "" });
    const link = document.querySelector("#results .hits .open .title");
    (link || document.getElementById("q")).focus();
  };
  const onEscape = (target) => {
    if (target.closest("#reader") || (!isWide() && doc)) close();
    else if (target.id === "q" && text) onText("");
    else if (doc && target.id === "q") close();
    else document.getElementById("q").focus();
  };
  const onText = (value) => {
    setEntered(false);
    setText(value);
    if (view !== "search") navigate({ view: "search", q: value });
  };
  const onEnter = () => {
    const [first] = found.value?.hits || [];
    const isCurrent = !found.isStale && settled === text && found.value?.query === text.trim();
    if (first && isCurrent) open(first);
    else setEntered(true);
  };
  const onFilter = (changes) => navigate({ ...changes });
  useKeys({ onHelp: () => setHelp(true), onView: (name) => navigate({ view: name }), onEscape }, letters);

  const values = base.value && listValues(base.value.schema, base.value.sources);
  const shared = { route, onOpen: open };
  const views = {
    search: () => html`<${Results} ...${{ ...shared, found, values, isPartial, isTyping, onFilter, onPreview }} />`,
    ask: () => html`<${Ask} ...${shared} />`,
    timeline: () => html`<${Timeline} ...${shared} schema=${base.value?.schema} />`,
    graph: () => html`<${Graph} ...${shared} />`,
    status: () =>
      html`<${Status} base=${base.value} reload=${base.reload} allowWrite=${page.allowWrite} />`,
  };
  const isReading = Boolean(doc) && view !== "status";
  return html`<a class="skip" href="#results">Skip to the results</a>
    <header id="bar">
      <${Bar}
        ...${{ route, text, onText, onEnter }}
        onNavigate=${navigate}
        onHelp=${() => setHelp(true)}
      />
    </header>
    <main id="app" class=${view}>
      ${view !== "status" && html`<h1 class="sr">${VIEWS[view]}</h1>`}
      ${views[view]()}
      ${isReading &&
      html`<${Reader}
        ...${{ route, page, focus, announce }}
        onNavigate=${(target) => [setFocus(true), navigate(target)]}
        onClose=${close}
      />`}
    </main>
    <p class="toast" role="status" aria-live="polite">${said}</p>
    ${help &&
    html`<${Help}
      letters=${letters}
      onLetters=${(on) => [setLetters(on), store("letters", on ? "on" : "off")]}
      onClose=${() => setHelp(false)}
    />`}`;
}

async function loadBase(signal) {
  const [schema, list] = await Promise.all([
    call("schema", {}, signal),
    call("source_list", {}, signal),
  ]);
  return { schema, sources: list.sources };
}

/** Take the page over from the server; what it shows stays until the first hits are there. */
async function begin() {
  applyTheme(stored("theme", "auto"));
  const route = parseRoute(location.href, history.state);
  const { doc, at, quote, view, ...searched } = route;
  const key = JSON.stringify(searched);
  const first = view === "search" ? loadHits(route) : null;
  await first?.catch(() => null);
  const field = document.getElementById("q");
  const isTyping = document.activeElement === field;
  const start = { text: field?.value ?? route.q, hits: { key }, takeHits: () => takeOnce(first, start) };
  if (!first) start.hits = null;
  document.body.replaceChildren();
  render(html`<${App} start=${start} />`, document.body);
  if (isTyping || (!doc && view === "search")) document.getElementById("q").focus();
}

function takeOnce(first, start) {
  start.hits = null;
  return first;
}

begin();
