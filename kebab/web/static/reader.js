/* The reader: the document as the server renders it, scrolled to the passage, and its margin. */

import { call, openInEditor, readDocument } from "./api.js";
import { Failure, follow, isWide, useLoaded } from "./parts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./preact.js";
import { Findings } from "./review.js";
import { formatRoute, parseRoute } from "./route.js";
import { pluralize } from "./words.js";

const RELATED = 6;
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function buildPath(route, from) {
  const fields = new URLSearchParams();
  if (route.at && !from) fields.set("at", route.at);
  if (route.quote && !from) fields.set("quote", route.quote);
  if (from) fields.set("from", from);
  const text = fields.toString();
  return `/read/${encodeURIComponent(route.doc)}${text && `?${text}`}`;
}

/** Return the block of the rendered document that holds a line, or the last one before it. */
export function findBlock(root, line) {
  let before = null;
  for (const block of root.querySelectorAll(".doc-body [data-lines]")) {
    const [first, last] = block.dataset.lines.split("-").map(Number);
    if (first > line) break;
    before = block;
    if (line <= (last ?? first)) return block;
  }
  return before;
}

/** Scroll to an element of the document; readers who want less motion get none. */
export function show(element, block = "center") {
  element?.scrollIntoView({ block, behavior: isCalm() ? "auto" : "smooth" });
}

/** Prepare a rendered document: the margin and the page show what its head repeats. */
function prepare(root) {
  root.querySelector(".backlinks")?.remove();
  const title = root.querySelector(".doc-title");
  const first = root.querySelector(".doc-body h1");
  if (title && first && title.textContent.trim() === first.textContent.trim()) title.remove();
}

/** Show the HTML of a document; links within it stay within the page. */
function Rendered({ text, focus, onNavigate, onPart }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    const root = element.current;
    const template = document.createElement("template");
    template.innerHTML = text;
    prepare(template.content);
    root.replaceChildren(template.content);
    const pane = document.getElementById("reader");
    const place = root.querySelector("mark.quote") || root.querySelector(".passage");
    pane.scrollTo(0, 0);
    if (!place && !isWide()) scrollTo(0, 0);
    place?.scrollIntoView({ block: place.offsetHeight < innerHeight / 2 ? "center" : "start" });
    if (focus) pane.focus({ preventScroll: true });
  }, [text]);
  const onClick = (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.origin !== location.origin || link.target === "_blank") return;
    if (link.dataset.from) follow(() => onPart(Number(link.dataset.from)))(event);
    else if (link.search) follow(() => onNavigate(parseRoute(link.href)))(event);
  };
  return html`<div class="rendered" ref=${element} onClick=${onClick}></div>`;
}

function Outline({ sections, total, onLine }) {
  if (sections.length < 2) return null;
  const top = Math.min(...sections.map((one) => one.level));
  return html`<nav aria-label="Outline">
    <h2>Outline</h2>
    <ol class="outline">
      ${sections.map(
        (one) =>
          html`<li key=${one.start_line} class=${`level-${Math.min(3, one.level - top)}`}>
            <button type="button" class="plain" dir="auto" onClick=${() => onLine(one.start_line)}>
              ${one.title}
            </button>
          </li>`,
      )}
    </ol>
    ${total > sections.length && html`<p>${pluralize(total - sections.length, "more heading")}</p>`}
  </nav>`;
}

function Links({ label, links, onNavigate, route }) {
  const seen = new Map(links.filter((one) => one.doc_id).map((one) => [one.doc_id, one]));
  if (!seen.size) return null;
  return html`<nav aria-label=${label}>
    <h2>${label}</h2>
    <ul>
      ${[...seen.values()].map((one) => {
        const target = { ...route, doc: one.doc_id, at: one.pair?.found.chunk_id || "", quote: "" };
        return html`<li key=${one.doc_id}>
          <a href=${formatRoute(target)} dir="auto" onClick=${follow(() => onNavigate(target))}>
            ${one.title || one.doc_path}
          </a>
        </li>`;
      })}
    </ul>
  </nav>`;
}

const MOST_SECTIONS = 200;

function Margin({ route, about, outline, onLine, onNavigate }) {
  const sections = outline?.sections || [];
  return html`<${Outline}
      sections=${sections.slice(0, MOST_SECTIONS)}
      total=${sections.length}
      onLine=${onLine}
    />
    ${about?.related &&
    html`<${Links} label="Linked from" links=${about.backlinks} ...${{ onNavigate, route }} />
      <${Links} label="Links to" links=${about.links} ...${{ onNavigate, route }} />
      <${Links} label="Related" links=${about.related} ...${{ onNavigate, route }} />`}`;
}

function Tools({ route, canOpen, line, file, isReviewing, onReview, onNavigate, onClose, announce }) {
  const open = () =>
    openInEditor(route.doc, line()).then(
      () => announce("Opened in the editor"),
      (error) => announce(error.message),
    );
  const copy = () =>
    navigator.clipboard.writeText(file).then(
      () => announce("Copied the reference"),
      () => announce("The browser does not allow copying"),
    );
  return html`<div class="tools" role="group" aria-label="This document">
    <button type="button" class="back" onClick=${onClose}>
      <span class="narrow-only">Back to the list</span><span class="wide-only">Close</span>
    </button>
    ${canOpen && html`<button type="button" id="edit" onClick=${open}>Open in editor</button>`}
    ${file && html`<button type="button" onClick=${copy}>Copy reference</button>`}
    <button type="button" id="review" aria-pressed=${isReviewing} onClick=${onReview}>Review</button>
    ${route.view !== "graph" &&
    html`<button
      type="button"
      onClick=${() => onNavigate({ ...route, view: "graph", at: "", quote: "" })}
    >
      Show links
    </button>`}
  </div>`;
}

/** Show a document. `announce` says a sentence to the reader, also to one who listens. */
export function Reader({ route, page, focus, announce, onNavigate, onClose }) {
  const [part, setPart] = useState({ doc: "", from: null });
  const [isReviewing, setReviewing] = useState(false);
  const article = useRef(null);
  const from = part.doc === route.doc ? part.from : null;
  const path = buildPath(route, from);
  const text = useLoaded(path, (signal) => readDocument(path, signal));
  const isThere = text.value !== null && !text.error;
  const about = useLoaded(isThere ? route.doc : null, (signal) =>
    call("related", { name: route.doc, limit: RELATED }, signal),
  );
  const outline = useLoaded(isThere ? route.doc : null, (signal) =>
    call("outline", { name: route.doc }, signal),
  );
  useEffect(() => {
    setPart({ doc: "", from: null });
    setReviewing(false);
  }, [route.doc]);

  const goToLine = (line) => {
    const shown = article.current.querySelector(".doc").dataset.lines;
    const [first, last] = shown.split("-").map(Number);
    if (line >= first && line <= last) show(findBlock(article.current, line), "start");
    else setPart({ doc: route.doc, from: line });
  };
  const findLine = () => {
    const body = article.current.querySelector(".doc-body");
    const place = body?.querySelector(".passage") || body?.querySelector("[data-lines]");
    return Number.parseInt(place?.closest("[data-lines]")?.dataset.lines || "1", 10);
  };
  const file = outline.isStale ? null : outline.value?.file;
  return html`<article
    id="reader"
    class=${isReviewing ? "reviewing" : ""}
    aria-label="Document"
    aria-busy=${text.isStale ? "true" : "false"}
    tabindex="-1"
    ref=${article}
  >
    <div class="reader-head">
      <${Tools}
        ...${{ route, canOpen: page.canOpen, file, isReviewing, onNavigate, onClose, announce }}
        line=${findLine}
        onReview=${() => setReviewing(!isReviewing)}
      />
    </div>
    <${Failure} error=${text.error} retry=${text.reload} />
    <div class="spread">
      ${!text.error &&
      text.value !== null &&
      html`<${Rendered}
        text=${text.value}
        focus=${focus}
        onNavigate=${(target) => onNavigate({ ...route, ...target, view: route.view, q: route.q })}
        onPart=${(line) => setPart({ doc: route.doc, from: line })}
      />`}
      ${isThere &&
      html`<aside class="margin" aria-label="About this document">
        ${isReviewing
          ? html`<${Findings}
              key=${route.doc}
              doc=${route.doc}
              allowWrite=${page.allowWrite}
              find=${(line) => findBlock(article.current, line)}
              shown=${text.value}
              announce=${announce}
              onApplied=${text.reload}
            />`
          : html`<${Margin}
              route=${route}
              about=${about.isStale ? null : about.value}
              outline=${outline.isStale ? null : outline.value}
              onLine=${goToLine}
              onNavigate=${onNavigate}
            />`}
      </aside>`}
    </div>
  </article>`;
}
