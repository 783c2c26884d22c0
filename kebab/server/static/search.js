/* The list of hits: search as you type, what is absent, and the newest documents without a query. */

import { call, renderTexts } from "./api.js";
import { Filters } from "./filters.js";
import { Facts, Markup, RouteLink, Waiting, labelOf } from "./parts.js";
import { html, useEffect, useState } from "./preact.js";
import { buildFilters, countFilters } from "./route.js";
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

export const LIMIT = 20;
const NEAREST = 3; // passages that are shown when none is convincing, as in the terminal
const TYPE_MORE = "Type a little more, or press Enter.";
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Return whether a text that is still being typed is long enough to be searched. */
export const isSearchable = (text) => [...text.trim()].length >= (CJK.test(text) ? 2 : 3);

const QUESTION = new RegExp(
  [
    "[?？؟]\\s*$",
    "^(who|what|when|where|why|how|which|can|could|do|does|did|is|are|was|were|should|will)\\s.*\\s",
    "(까|나요|는가|은가|인가|어떻게|무엇|언제|어디|누가)",
    "(什么|怎么|怎样|吗|为什么|多少|哪|ですか|ますか|なぜ|どう)",
  ].join("|"),
  "iu",
);

/** Return whether a query is worded as a question. */
export const isQuestion = (text) => QUESTION.test(text.trim());

/** Return the reply of a search, or of a list of the newest documents where there is no query. */
export async function loadHits(route, limit, signal) {
  const filters = buildFilters(route);
  const query = route.q.trim();
  if (!query) return call("list", { sort: "date", limit, ...filters }, signal);
  const reply = await call("search", { query, limit, snippet_chars: 280, ...filters }, signal);
  return { ...reply, hits: await addSnippets(reply.hits, signal) };
}

/** Return hits with the HTML of their snippets, without lines that only repeat a heading. */
export async function addSnippets(hits, signal) {
  const texts = hits.map((hit) => ({
    text: hit.snippet,
    media: hit.media,
    marks: hit.highlights,
    headings: [hit.title, ...hit.heading_path],
  }));
  const found = hits.length ? await renderTexts(texts, signal) : [];
  return hits.map((hit, index) => ({ ...hit, html: found[index] }));
}

function Hit({ hit, route, onOpen, onPreview }) {
  const at = hit.chunk_id || "";
  const isOpen = hit.doc_id === route.doc && (!hit.chunk_id || at === route.at);
  const headings = hit.heading_path || [];
  const below = headings[0] === hit.title ? headings.slice(1) : headings;
  const date = hit.date || hit.modified_at;
  const place = hit.citation ? formatPlace(hit.citation) : hit.doc_path;
  return html`<li class=${isOpen ? "open" : ""}>
    <${RouteLink}
      class="title"
      target=${{ ...route, doc: hit.doc_id, at }}
      aria-current=${isOpen ? "true" : null}
      onNavigate=${() => onOpen(hit)}
      onFocus=${() => onPreview?.(hit)}
      >${hit.title || hit.doc_path}<//
    >
    ${hit.confidence &&
    html`<span class="confidence ${hit.confidence}" title=${CONFIDENCE[hit.confidence]}
      >${hit.confidence}</span
    >`}
    ${below.length > 0 && html`<p class="headings" dir="auto">${below.join(" › ")}</p>`}
    ${hit.html && html`<${Markup} class="snippet" text=${hit.html} />`}
    <${Facts}
      items=${[
        html`<bdi class="place">${place}</bdi>`,
        labelOf(hit.media),
        !hit.chunk_id && date && formatDate(date),
        hit.freshness !== "fresh" && html`<strong>${FRESHNESS[hit.freshness]}</strong>`,
      ]}
    />
  </li>`;
}

/** Show hits or documents; `onPreview` gets the one that has the focus. */
export const Hits = ({ hits, ...shared }) =>
  html`<ol class="hits" aria-label="Hits">
    ${hits.map((hit) => html`<${Hit} key=${hit.chunk_id || hit.doc_id} hit=${hit} ...${shared} />`)}
  </ol>`;

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

/** Return what a reader of the hits must know about what was not searched. */
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

function HitList({ reply, limit, onMore, ...shared }) {
  const [all, setAll] = useState(null);
  const found = reply.documents || reply.hits;
  const better = reply.documents || reply.hits.filter((hit) => hit.confidence !== "weak");
  const isWeak = found.length > 0 && !better.length;
  const nearest = better.length ? better : found.slice(0, NEAREST);
  const hits = all === reply.query || limit > LIMIT ? found : nearest;
  const weaker = found.length - hits.length;
  const hasAdvice = !found.length && !reply.documents && !reply.unmatched_filters.length;
  return html`<p class="summary" role="status">${summarize(reply, hits.length, isWeak)}</p>
    ${listNotes(reply).map((note) => html`<p class="note">${note}</p>`)}
    ${isWeak && html`<p class="note">the nearest passages, likely on other matters</p>`}
    <${Hits} hits=${hits} ...${shared} />
    ${weaker > 0
      ? html`<button type="button" class="more" onClick=${() => setAll(reply.query)}>
          ${reply.has_more ? "weaker hits" : pluralize(weaker, "weaker hit")}
        </button>`
      : reply.has_more && html`<button type="button" class="more" onClick=${onMore}>more</button>`}
    ${hasAdvice && html`<p class="advice">Try fewer or other words, or drop a filter.</p>`}`;
}

/** Move the focus between the links of the hits; above the first is the field of the query. */
export function moveFocus(step) {
  const links = [...document.querySelectorAll("#results .hits .title")];
  const index = links.indexOf(document.activeElement);
  const target = index + step < 0 ? document.getElementById("q") : links[index + step];
  target?.focus();
  target?.closest("li")?.scrollIntoView({ block: "nearest" });
}

/** Show the list of hits with its filters. `found` is what `loadHits` returned last. */
export function Results({ route, found, values, isPartial, onFilter, onAsk, ...shared }) {
  const reply = found.value;
  const query = reply?.documents ? "" : reply?.query;
  useEffect(() => document.getElementById("results").scrollTo(0, 0), [query]);
  return html`${values && html`<${Filters} route=${route} values=${values} onChange=${onFilter} />`}
    ${isQuestion(route.q) &&
    html`<${RouteLink}
      class="ask-this"
      target=${{ ...route, view: "ask", doc: "", at: "" }}
      onNavigate=${onAsk}
    >
      Ask this <kbd aria-label="Enter">⏎</kbd>
    <//>`}
    <${Waiting} for=${found} label=${isPartial ? TYPE_MORE : "searching"} />
    ${reply && !found.error && html`<${HitList} ...${{ reply, route, ...shared }} />`}
    ${reply?.total === 0 &&
    !countFilters(route) &&
    html`<p class="advice">
      Nothing is indexed yet. Read a folder in a terminal: <code>kebab ingest FOLDER</code>
    </p>`}`;
}
