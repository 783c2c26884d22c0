/* The list of hits: search as you type, what is absent, and the newest documents without a query. */

import { call } from "./api.js";
import { Filters } from "./filters.js";
import { Confidence, Facts, Failure, follow, isCode, labelOf, markSnippet } from "./parts.js";
import { html, useEffect, useRef, useState } from "./preact.js";
import { buildFilters, countFilters, formatRoute } from "./route.js";
import {
  CONFIDENCE,
  FRESHNESS,
  describeAbsentTerms,
  describeDegraded,
  describeKnownGaps,
  describeNoAnswer,
  formatDate,
  formatPlace,
  pluralize,
} from "./words.js";

const LIMIT = 20;
const NEAREST = 3; // passages that are shown when none is convincing, as in the terminal
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Return whether a text that is still being typed is long enough to be searched. */
export const isSearchable = (text) => [...text.trim()].length >= (CJK.test(text) ? 2 : 3);

/** Return the reply of a search, or of a list of the newest documents where there is no query. */
export async function loadHits(route, signal) {
  const filters = buildFilters(route);
  const query = route.q.trim();
  if (!query) return call("list", { sort: "date", limit: LIMIT, ...filters }, signal);
  return call("search", { query, limit: LIMIT, snippet_chars: 280, ...filters }, signal);
}

/** Return the hits to show, and the number of weaker ones that wait. */
function splitHits(hits) {
  const better = hits.filter((hit) => hit.confidence !== "weak");
  const shown = better.length ? better : hits.slice(0, NEAREST);
  return { shown, weaker: hits.length - shown.length, isWeak: hits.length > 0 && !better.length };
}

function placeOf(hit) {
  return hit.citation ? formatPlace(hit.citation) : hit.doc_path;
}

function Hit({ hit, route, isOpen, onOpen, onPreview }) {
  const target = { ...route, doc: hit.doc_id, at: hit.chunk_id || "" };
  const headings = hit.heading_path || [];
  const below = headings[0] === hit.title ? headings.slice(1) : headings;
  const date = hit.date || hit.modified_at;
  return html`<li class=${isOpen ? "open" : ""}>
    <a
      class="title"
      dir="auto"
      href=${formatRoute(target)}
      aria-current=${isOpen ? "true" : null}
      onClick=${follow(() => onOpen(hit))}
      onFocus=${() => onPreview(hit)}
      >${hit.title || hit.doc_path}</a
    >
    ${hit.confidence &&
    html`<${Confidence} name=${hit.confidence} title=${CONFIDENCE[hit.confidence]} />`}
    ${below.length > 0 && html`<p class="headings" dir="auto">${below.join(" › ")}</p>`}
    ${hit.snippet &&
    html`<p class="snippet ${isCode(hit.media) ? "code" : ""}" dir="auto">
      ${markSnippet(hit.snippet, hit.highlights, { ...hit, headings: [hit.title, ...headings] })}
    </p>`}
    <${Facts}
      items=${[
        html`<bdi class="place">${placeOf(hit)}</bdi>`,
        labelOf(hit.media),
        !hit.chunk_id && date && formatDate(date),
        hit.freshness !== "fresh" && html`<strong>${FRESHNESS[hit.freshness]}</strong>`,
      ]}
    />
  </li>`;
}

/** Return the one sentence above the hits. */
function summarize(reply, shown, isWeak) {
  if (reply.documents) {
    return reply.total ? pluralize(reply.total, "document") + ", the newest first" : "no documents";
  }
  if (!reply.hits.length) return describeNoAnswer(reply, "no results");
  if (isWeak) return describeNoAnswer(reply, "nothing convincing");
  const more = shown === reply.hits.length && reply.has_more ? " and more" : "";
  return `${pluralize(shown, "hit")}${more}, ${Math.round(reply.timing_ms)} ms`;
}

/** Yield what a reader of the hits must know about what was not searched. */
function listNotes(reply) {
  const notes = [];
  if (reply.absent_terms?.length && !reply.unmatched_filters.length) {
    notes.push(describeAbsentTerms(reply));
  }
  for (const one of reply.unmatched_filters || []) {
    const nearest = one.nearest.length ? `; nearest: ${one.nearest.join(", ")}` : "";
    const many = one.documents ? `, alone ${pluralize(one.documents, "document")}` : "";
    notes.push(`no document passes ${one.filter} “${one.value}”${many}${nearest}`);
  }
  for (const channel of reply.degraded || []) notes.push(describeDegraded(channel));
  const isTold = reply.documents || reply.absent_terms?.length || !reply.convincing;
  if (!isTold && reply.hits.length) notes.push(describeKnownGaps(reply.coverage));
  return notes.filter(Boolean);
}

/** Load further hits behind those of a reply. */
function useMore(reply, route) {
  const [more, setMore] = useState({ reply, hits: [], next: null, error: null });
  const current = more.reply === reply ? more : { reply, hits: [], next: null, error: null };
  const first = reply.documents ? reply.documents.length : reply.next_cursor;
  const next = current.hits.length ? current.next : reply.has_more ? first : null;
  const load = async () => {
    const filters = buildFilters(route);
    const query = { query: route.q.trim(), limit: LIMIT, snippet_chars: 280, cursor: next };
    const list = { sort: "date", limit: LIMIT, offset: next };
    const request = { ...(reply.documents ? list : query), ...filters };
    try {
      const page = await call(reply.documents ? "list" : "search", request);
      const added = page.documents || page.hits;
      const hits = [...current.hits, ...added];
      const after = page.documents ? next + added.length : page.next_cursor;
      setMore({ reply, hits, next: page.has_more ? after : null, error: null });
    } catch (error) {
      setMore({ ...current, error });
    }
  };
  return { hits: current.hits, error: current.error, load: next ? load : null };
}

function HitList({ reply, route, onOpen, onPreview }) {
  const [all, setAll] = useState(null);
  const further = useMore(reply, route);
  const documents = reply.documents;
  const { shown, weaker, isWeak } = documents
    ? { shown: documents, weaker: 0, isWeak: false }
    : splitHits(reply.hits);
  const showsAll = all === reply || further.hits.length > 0;
  const hits = showsAll ? [...(documents || reply.hits), ...further.hits] : shown;
  const isOpen = (hit) => hit.doc_id === route.doc && (hit.chunk_id || "") === route.at;
  return html`<p class="summary" role="status">${summarize(reply, hits.length, isWeak)}</p>
    ${listNotes(reply).map((note) => html`<p class="note">${note}</p>`)}
    ${isWeak && html`<p class="note">the nearest passages, likely on other matters</p>`}
    <ol class="hits" aria-label="Hits">
      ${hits.map(
        (hit) =>
          html`<${Hit}
            key=${hit.chunk_id || hit.doc_id}
            hit=${hit}
            route=${route}
            isOpen=${isOpen(hit)}
            onOpen=${onOpen}
            onPreview=${onPreview}
          />`,
      )}
    </ol>
    <${Failure} error=${further.error} />
    ${weaker > 0 && !showsAll
      ? html`<button type="button" class="more" onClick=${() => setAll(reply)}>
          ${reply.has_more ? "weaker hits" : pluralize(weaker, "weaker hit")}
        </button>`
      : further.load &&
        html`<button type="button" class="more" onClick=${further.load}>more</button>`}
    ${!documents && !reply.hits.length && html`<${NoHits} reply=${reply} />`}`;
}

function NoHits({ reply }) {
  if (reply.unmatched_filters.length) return null;
  return html`<p class="advice">Try fewer or other words, or drop a filter.</p>`;
}

/** Move the focus between the links of the hits; above the first is the field of the query. */
export function moveFocus(step) {
  const links = [...document.querySelectorAll("#results .hits .title")];
  const index = links.indexOf(document.activeElement);
  const field = document.getElementById("q");
  if (index + step < 0) {
    field.focus();
    return;
  }
  const link = links[index + step];
  if (!link) return;
  link.focus();
  link.closest("li").scrollIntoView({ block: "nearest" });
}

/** Show the list of hits with its filters. `found` is what `loadHits` returned last. */
export function Results({ route, found, values, isPartial, isTyping, onFilter, onOpen, onPreview }) {
  const list = useRef(null);
  const { value: reply, error, isStale, reload } = found;
  const query = reply?.documents ? "" : reply?.query;
  useEffect(() => {
    list.current?.scrollTo(0, 0);
  }, [query]);
  return html`<section
    id="results"
    aria-label="Results"
    aria-busy=${isStale || isTyping ? "true" : "false"}
    ref=${list}
    tabindex="-1"
  >
    ${values && html`<${Filters} route=${route} values=${values} onChange=${onFilter} />`}
    <${Failure} error=${error} retry=${reload} />
    ${isPartial && html`<p class="summary" role="status">Type a little more, or press Enter.</p>`}
    ${reply && !error && html`<${HitList} ...${{ reply, route, onOpen, onPreview }} />`}
    ${!reply && !error && html`<p class="summary" role="status">searching</p>`}
    ${reply?.documents && !reply.total && !countFilters(route) && html`<${EmptyBase} />`}
  </section>`;
}

function EmptyBase() {
  return html`<p class="advice">
    Nothing is indexed yet. Read a folder in a terminal: <code>kebab ingest FOLDER</code>
  </p>`;
}
