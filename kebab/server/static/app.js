/* The page: its bar, its views, the keyboard, and the history of addresses. */

import { call, isServerThere } from "./api.js";
import { Ask, askQuestion } from "./ask.js";
import { loadValues } from "./filters.js";
import { Graph } from "./graph.js";
import { Dialog, RouteLink, isWide, useLoaded } from "./parts.js";
import { html, render, useEffect, useRef, useState } from "./preact.js";
import { Reader } from "./reader.js";
import { VIEWS, buildFilters, dropFilters, formatRoute, parseRoute } from "./route.js";
import { LIMIT, Results, isQuestion, isSearchable, loadHits, moveFocus } from "./search.js";
import { Status } from "./status.js";
import { Timeline } from "./timeline.js";

const PREVIEW_MS = 120;
const RETRY_MS = 2000;
const SAID_MS = 6000;

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
  const current = useRef(null);
  current.current = route;
  useEffect(() => {
    const restore = () => setRoute(parseRoute(location.href, history.state));
    addEventListener("popstate", restore);
    return () => removeEventListener("popstate", restore);
  }, []);
  const navigate = (changes, replace = false) => {
    const next = { ...current.current, ...changes };
    current.current = next;
    setRoute(next);
    const address = formatRoute(next);
    const isSame = address === location.pathname + location.search;
    const state = { quote: next.quote };
    if (replace || isSame) history.replaceState(state, "", address);
    else history.pushState(state, "", address);
  };
  return [route, navigate];
}

function Bar({ route, onText, onEnter, onNavigate, onHelp }) {
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
  return html`<${RouteLink} class="brand" target=${home} onNavigate=${onNavigate}>kebab<//>
    <form role="search" onSubmit=${submit}>
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
        value=${route.q}
        onInput=${(event) => onText(event.target.value)}
      />
    </form>
    <nav aria-label="Views">
      ${Object.entries(VIEWS).map(([view, label]) => {
        const current = route.view === view ? "page" : null;
        const target = { ...route, view };
        return html`<${RouteLink} ...${{ target, onNavigate }} aria-current=${current}>${label}<//>`;
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
  ["Enter", "open the hit, and read; ask a question"],
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
function runKey(key, { onHelp, onView }) {
  if (key === "/") document.getElementById("q").select();
  else if (key === "?") onHelp();
  else if (key === "o") document.getElementById("edit")?.click();
  else if (key === "r") document.getElementById("review")?.click();
  else if (/^[1-5]$/.test(key)) onView(Object.keys(VIEWS)[Number(key) - 1]);
  else return false;
  return true;
}

/** Listen to the keyboard of the whole page. */
function useKeys(actions) {
  useEffect(() => {
    const listen = (event) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      const { target, key } = event;
      const inQuery = target.id === "q";
      const inField = target.matches?.("input, textarea, select");
      const inList = inQuery || target.closest?.("#results");
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (step && inList && (inQuery || !inField)) {
        event.preventDefault();
        // Hits that are about to be replaced would take the focus with them.
        if (!document.querySelector("#results[aria-busy=true]")) moveFocus(step);
      } else if (key === "Escape") {
        event.preventDefault();
        actions.onEscape(target);
      } else if (!inField && actions.letters && runKey(key, actions)) {
        event.preventDefault();
      }
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
}

function App() {
  const [route, navigate] = useRoute();
  const [help, setHelp] = useState(false);
  const [letters, setLetters] = useState(stored("letters", "on") === "on");
  const [said, announce] = useState("");
  const [focus, setFocus] = useState(false);
  const [typed, setTyped] = useState(null); // the query while it is being typed
  const preview = useRef(0);
  const base = useLoaded("base", loadBase);
  const isSearch = route.view === "search";
  const values = useLoaded(isSearch ? JSON.stringify(buildFilters(route)) : null, (signal) =>
    loadValues(route, signal),
  );
  const { doc, at, quote, view, ...searched } = route;
  const isPartial = typed === route.q && typed.trim() && !isSearchable(typed);
  const key = view === "search" && !isPartial ? JSON.stringify(searched) : null;
  const [extended, setExtended] = useState({ key, limit: LIMIT });
  const limit = extended.key === key ? extended.limit : LIMIT;
  const load = (signal) => loadHits(searched, limit, signal);
  const found = useLoaded(key && `${limit} ${key}`, load);
  useEffect(() => {
    if (found.error?.code !== "server_away") return undefined;
    const retry = async () =>
      (await isServerThere()) && [found.reload(), base.reload(), values.reload()];
    const timer = setInterval(retry, RETRY_MS);
    return () => clearInterval(timer);
  }, [found.error]);
  useEffect(() => {
    document.title = route.q ? `${route.q} – kebab` : `kebab – ${VIEWS[view]}`;
  }, [route.q, view]);
  useEffect(() => {
    const timer = setTimeout(() => announce(""), SAID_MS);
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
    if (isWide()) preview.current = setTimeout(() => open(hit, true), PREVIEW_MS);
  };
  const close = () => {
    navigate({ doc: "", at: "", quote: "" });
    const link = document.querySelector("#results .hits .open .title");
    (link || document.getElementById("q")).focus();
  };
  const onEscape = (target) => {
    if (target.closest("#reader") || (!isWide() && doc)) close();
    else if (target.id === "q" && route.q) onText("");
    else if (doc && target.id === "q") close();
    else document.getElementById("q").focus();
  };
  const onText = (value) => {
    setTyped(value);
    navigate({ view: "search", q: value }, view === "search");
  };
  const onAsk = () => {
    askQuestion(route.q, route);
    navigate({ view: "ask", doc: "", at: "", quote: "" });
  };
  const onEnter = () => {
    if (view === "search" && isQuestion(route.q)) return onAsk();
    const [first] = found.value?.hits || [];
    return first && !found.isStale ? open(first) : setTyped(null);
  };
  const onHelp = () => setHelp(true);
  useKeys({ onHelp, onView: (name) => navigate({ view: name }), onEscape, letters });

  const shared = { route, onOpen: open };
  const onMore = () => setExtended({ key, limit: limit + LIMIT });
  const follow = (target) => [setFocus(true), navigate(target)];
  const searching = {
    ...{ found, isPartial, limit, onPreview, onMore, onAsk },
    values: values.value,
    onFilter: navigate,
  };
  const views = {
    search: () => html`<${Results} ...${{ ...shared, ...searching }} />`,
    ask: () => html`<${Ask} ...${shared} />`,
    timeline: () => html`<${Timeline} ...${shared} />`,
    graph: () => html`<${Graph} ...${shared} onNavigate=${follow} />`,
    status: () =>
      html`<${Status} base=${base.value} reload=${base.reload} allowWrite=${page.allowWrite} />`,
  };
  const isBusy = view === "search" && found.isStale;
  const isReading = Boolean(doc) && view !== "status";
  return html`<a class="skip" href="#results">Skip to the results</a>
    <header id="bar">
      <${Bar}
        ...${{ route, onText, onEnter, onHelp }}
        onNavigate=${navigate}
      />
    </header>
    <main id="app" class=${view}>
      ${view !== "status" && html`<h1 class="sr">${VIEWS[view]}</h1>`}
      <section
        id="results"
        key=${view}
        aria-label=${view === "search" ? "Results" : VIEWS[view]}
        aria-busy=${isBusy ? "true" : "false"}
        tabindex="-1"
      >
        ${views[view]()}
      </section>
      ${isReading &&
      html`<${Reader}
        ...${{ route, page, focus, announce }}
        onNavigate=${follow}
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

applyTheme(stored("theme", "auto"));
document.body.replaceChildren();
render(html`<${App} />`, document.body);
if (!parseRoute(location.href, history.state).doc) document.getElementById("q")?.focus();
