/* The reader: the document as the server renders it, scrolled to the passage, and its margin. */

import { call, openInEditor, readDocument } from "./api.js";
import { DocLinks, Failure, follow, isWide, useLoaded } from "./parts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./preact.js";
import { Findings } from "./review.js";
import { parseRoute } from "./route.js";
import { pluralize } from "./words.js";

const RELATED = 6;
const MOST_SECTIONS = 200;

function buildPath(route, from) {
  const fields = Object.entries(from ? { from } : { at: route.at, quote: route.quote });
  const text = new URLSearchParams(fields.filter(([, value]) => value));
  return `/read/${encodeURIComponent(route.doc)}?${text}`;
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

/** Draw one bar at the edge of the passage, whatever blocks it has. */
function markPassage(root) {
  const blocks = root.querySelectorAll(".passage");
  const top = root.getBoundingClientRect().top;
  const [first, last] = [blocks[0], blocks[blocks.length - 1]];
  const from = first ? first.getBoundingClientRect().top - top : 0;
  const height = last ? last.getBoundingClientRect().bottom - top - from : 0;
  root.style.setProperty("--from", `${from}px`);
  root.style.setProperty("--high", `${height}px`);
}

/** Show the HTML of a document; links within it stay within the page. */
function Rendered({ text, focus, onNavigate, onPart }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    const root = element.current;
    const template = document.createElement("template");
    template.innerHTML = text;
    root.replaceChildren(template.content);
    const pane = document.getElementById("reader");
    const place = root.querySelector("mark.quote") || root.querySelector(".passage");
    pane.scrollTo(0, 0);
    if (!place && !isWide()) scrollTo(0, 0);
    place?.scrollIntoView({ block: place.offsetHeight < innerHeight / 2 ? "center" : "start" });
    if (focus) pane.focus({ preventScroll: true });
    const watcher = new ResizeObserver(() => markPassage(root));
    watcher.observe(root);
    return () => watcher.disconnect();
  }, [text]);
  const onClick = (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.origin !== location.origin || link.target === "_blank") return;
    if (link.dataset.from) follow(() => onPart(Number(link.dataset.from)))(event);
    else if (link.search) follow(() => onNavigate(parseRoute(link.href)))(event);
  };
  return html`<div class="rendered" ref=${element} onClick=${onClick}></div>`;
}

function Outline({ sections, onLine }) {
  if (sections.length < 2) return null;
  const top = Math.min(...sections.map((one) => one.level));
  const left = sections.length - MOST_SECTIONS;
  return html`<nav aria-label="Outline">
    <h2>Outline</h2>
    <ol class="outline">
      ${sections.slice(0, MOST_SECTIONS).map(
        (one) =>
          html`<li key=${one.start_line} class=${`level-${Math.min(3, one.level - top)}`}>
            <button type="button" class="plain" dir="auto" onClick=${() => onLine(one.start_line)}>
              ${one.title}
            </button>
          </li>`,
      )}
    </ol>
    ${left > 0 && html`<p>${pluralize(left, "more heading")}</p>`}
  </nav>`;
}

/** Return the documents that links lead to, each once. */
const listDocuments = (links) => [
  ...new Map(
    links
      .filter((one) => one.doc_id)
      .map((one) => [
        one.doc_id,
        { id: one.doc_id, title: one.title || one.doc_path, at: one.pair?.found.chunk_id },
      ]),
  ).values(),
];

function Margin({ route, about, outline, onLine, onNavigate }) {
  const { backlinks = [], links = [], related = [] } = about || {};
  const lists = { "Linked from": backlinks, "Links to": links, Related: related };
  return html`<${Outline} sections=${outline?.sections || []} onLine=${onLine} />
    ${Object.entries(lists).map(
      ([label, found]) =>
        html`<${DocLinks} documents=${listDocuments(found)} ...${{ label, route, onNavigate }} />`,
    )}`;
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
      <span class="narrow">‹ ${route.view === "search" ? "Results" : "Back"}</span>
      <span class="wide">Close</span>
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
    if (line < first || line > last) return setPart({ doc: route.doc, from: line });
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const behavior = isCalm ? "auto" : "smooth";
    return findBlock(article.current, line)?.scrollIntoView({ block: "start", behavior });
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
