/* Questions: the streamed answer, its citations, what is doubtful, and stored sessions. */

import { call, renderTexts, stream } from "./api.js";
import { Failure, Markup, useLoaded } from "./parts.js";
import { html, useEffect, useRef, useState } from "./preact.js";
import { buildFilters } from "./route.js";
import { Hits, addSnippets } from "./search.js";
import { describeGaps, formatDate, formatPlace, formatSeconds, pluralize } from "./words.js";

const MOST_PASSAGES = 3; // that are shown beside an error or a withheld answer
const MOST_SESSIONS = 5;

const REFUSALS = {
  no_chunks: "nothing was found",
  score_gate: "nothing that was found is close enough",
  llm_self_judge: "the passages do not answer it",
  unsupported_claims: "the claims had no support in the passages",
  llm_stream_aborted: "the model stopped in the middle",
  empty_answer: "the model wrote no answer",
};

/** Return an answer with the HTML of its text: its citations and what is doubtful in it marked. */
async function addHtml(answer, signal) {
  const { citations, warnings } = answer;
  const doubtful = warnings.filter((one) => one.span);
  const cited = citations.flatMap((one) => one.spans.map((span) => ({ span, citation: one })));
  const places = [...doubtful, ...cited];
  const [text] = await renderTexts(
    [
      {
        text: answer.answer,
        marks: places.map((one) => one.span),
        labels: places.map((one) => (one.citation ? "cited" : "doubtful")),
        markers: citations.map((one) => one.marker),
      },
    ],
    signal,
  );
  const suggestions = await addSnippets(answer.suggestions.slice(0, MOST_PASSAGES), signal);
  return { ...answer, suggestions, html: text, places, numbers: numberMarkers(answer) };
}

/** Return the shown number of each marker: the first that the text has is 1. */
function numberMarkers({ answer, citations }) {
  const known = citations.map((one) => one.marker);
  const inText = [...answer.matchAll(/\[(\d{1,3})\]/g)].map((match) => Number(match[1]));
  const ordered = new Set([...inText.filter((marker) => known.includes(marker)), ...known]);
  return new Map([...ordered].map((marker, index) => [marker, index + 1]));
}

/** Show the text of an answer; a click on a marker or on what it supports opens the citation. */
function AnswerText({ answer, onCite }) {
  const element = useRef(null);
  useEffect(() => {
    for (const one of element.current.querySelectorAll("mark.doubtful")) {
      one.title = answer.places[one.dataset.mark].message;
    }
    for (const one of element.current.querySelectorAll(".marker")) {
      const found = answer.citations.find(({ marker }) => marker === Number(one.dataset.marker));
      const number = answer.numbers.get(found.marker);
      one.textContent = number;
      one.setAttribute("aria-label", `Citation ${number}: ${formatPlace(found.citation)}`);
    }
  }, [answer]);
  const onClick = ({ target }) => {
    const marker = Number(target.closest(".marker")?.dataset.marker);
    const place = answer.places[target.closest("mark")?.dataset.mark];
    const found = answer.citations.find((one) => one.marker === marker) || place?.citation;
    if (found) onCite(found);
  };
  return html`<div ref=${element} onClick=${onClick}>
    <${Markup} class="answer-text" text=${answer.html} />
  </div>`;
}

function Citations({ citations, numbers, onCite }) {
  if (!citations.length) return null;
  const ordered = [...citations].sort((a, b) => numbers.get(a.marker) - numbers.get(b.marker));
  return html`<ol class="citations" aria-label="Citations">
    ${ordered.map(
      (one) =>
        html`<li>
          <button type="button" class="citation" onClick=${() => onCite(one)}>
            <span class="marker">${numbers.get(one.marker)}</span>
            <span>
              <bdi class="citation-title">${one.title || one.doc_path}</bdi>
              <q dir="auto">${shorten(one.quote)}</q>
              <bdi class="place">${formatPlace(one.citation)}</bdi>
            </span>
          </button>
        </li>`,
    )}
  </ol>`;
}

const shorten = (text) => (text.length > 180 ? `${text.slice(0, 178)}…` : text);

function Verdict({ answer: { grounded, refusal_reason: reason, answers_question, ...answer } }) {
  const gaps = !answer.warnings.length && describeGaps(answer.coverage, "convincing");
  if (!grounded) {
    return html`<p class="verdict refused">
      <strong>No answer</strong>: ${REFUSALS[reason] || reason}${gaps && ` (${gaps})`}
    </p>`;
  }
  if (answers_question !== "uncertain") return null;
  return html`<p class="verdict uncertain">
    <strong>Uncertain</strong>: the cited passages may be about something else
  </p>`;
}

/** Show how long a question has been at work. */
function Elapsed({ since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<span aria-hidden="true">, ${formatSeconds(Math.max(0, now - since) / 1000)}</span>`;
}

function Answered({ answer, route, onCite, onOpen }) {
  const source = answer.model || (answer.mode === "extractive" && "sentences of your notes");
  const seconds = formatSeconds(answer.usage.latency_ms / 1000);
  return html`<${Verdict} answer=${answer} />
    <${AnswerText} answer=${answer} onCite=${onCite} />
    <ul class="warnings" aria-label="Warnings">
      ${answer.warnings.map((one) => html`<li>${one.message}</li>`)}
    </ul>
    <${Citations} ...${{ citations: answer.citations, numbers: answer.numbers, onCite }} />
    ${answer.suggestions.length > 0 && html`<h3>The nearest passages</h3>`}
    <${Hits} hits=${answer.suggestions} ...${{ route, onOpen }} />
    <p class="facts">${[source, seconds].filter(Boolean).join(", ")}</p>`;
}

function Turn({ turn, route, onCite, onOpen }) {
  const { question, draft, answer, error, state, stored, isBusy, hits } = turn;
  const again = (extractive) => askQuestion(question, route, extractive);
  return html`<li class="turn" aria-busy=${isBusy ? "true" : "false"}>
    <h2 dir="auto">${question}</h2>
    ${answer && html`<${Answered} ...${{ answer, route, onCite, onOpen }} />`}
    ${stored && html`<${Markup} class="answer-text" text=${stored} />`}
    ${!answer && draft && html`<p class="draft" dir="auto">${draft}</p>`}
    ${state &&
    html`<p class="summary">
      <span role="status">${state}</span>${isBusy && html`<${Elapsed} since=${turn.since} />`}
    </p>`}
    <${Failure} error=${error} />
    ${(error || answer?.grounded === false) &&
    html`<div class="buttons">
      <button type="button" onClick=${() => again(false)}>Retry</button>
      ${answer?.mode !== "extractive" &&
      html`<button type="button" onClick=${() => again(true)}>Answer with quotes</button>`}
    </div>`}
    ${error && hits?.length > 0 &&
    html`<h3>What was found</h3>
      <${Hits} hits=${hits} ...${{ route, onOpen }} />`}
  </li>`;
}

/** Return the turn after an event of `ask --stream`. */
function addEvent(turn, event) {
  switch (event.type) {
    case "retrieval_done": {
      const state = `reading ${pluralize(event.hits.length, "passage")}`;
      return { ...turn, found: event.hits.slice(0, MOST_PASSAGES), state };
    }
    case "token":
      return { ...turn, draft: turn.draft + event.delta, state: "writing, not checked yet" };
    case "restart":
      return { ...turn, draft: "", state: event.reason };
    case "waiting":
      return { ...turn, state: event.reason };
    case "error":
      return { ...turn, error: event.error };
    default:
      return turn;
  }
}

/** Return a name of a session that is not taken: `web` and the time. */
const nameSession = () => `web-${new Date().toISOString().slice(0, 23).replace(/\D/g, "")}`;

const DRAFT = "kebab-question";
/** The conversation, which goes on while another view is shown. */
const memory = { turns: [], session: "", text: sessionStorage.getItem(DRAFT) || "" };
const viewers = new Set();
let control = null;

function keep(changes) {
  Object.assign(memory, changes);
  viewers.forEach((show) => show());
}

/** Keep what is typed or asked until it is answered, also when the page is loaded again. */
function setDraft(text) {
  sessionStorage.setItem(DRAFT, text);
  keep({ text });
}

/** Ask a question as the next turn; `extractive` answers with sentences of the notes. */
export async function askQuestion(text, route, extractive = false) {
  const question = text.trim();
  if (!question || memory.turns.at(-1)?.isBusy) return;
  const session = memory.session || nameSession();
  const request = { question, extractive, session, ...buildFilters(route) };
  const turn = { question, draft: "", state: "searching", isBusy: true, since: Date.now() };
  const before = memory.turns.filter((one) => !(one.error && one.question === question));
  control = new AbortController();
  const { signal } = control;
  sessionStorage.setItem(DRAFT, question);
  keep({ turns: [...before, turn], session, text: "" });
  const change = (changes) => {
    Object.assign(turn, changes);
    keep({ turns: [...before, { ...turn }] });
  };
  let final = null;
  try {
    const take = (one) => (one.type === "final" ? (final = one) : change(addEvent(turn, one)));
    await stream("ask", request, take, signal);
    if (final) change({ answer: await addHtml(final.answer, signal) });
    else if (!turn.error) change({ error: { message: "the server ended without an answer" } });
  } catch (error) {
    change({ error: error.name === "AbortError" ? { message: "stopped" } : error });
  }
  const hits = turn.error && turn.found ? await addSnippets(turn.found).catch(() => []) : [];
  change({ state: "", isBusy: false, hits });
  if (!turn.error && !memory.text) sessionStorage.removeItem(DRAFT);
}

async function openSession(name) {
  const reply = await call("session_show", { name }).catch(() => null);
  const turns = reply?.turns || [];
  const stored = turns.length ? await renderTexts(turns.map((one) => ({ text: one.answer }))) : [];
  const restore = ({ question, refusal_reason: reason }, index) => ({
    question,
    stored: stored[index],
    state: reason ? REFUSALS[reason] : "",
  });
  keep({ session: name, turns: turns.map(restore) });
}

const EXAMPLES = {
  ko: (title) => `${title}: 무엇인가요?`,
  ja: (title) => `${title}とは何ですか？`,
  zh: (title) => `${title}是什么？`,
  en: (title) => `What is ${title} about?`,
};

/** Return three questions about the notes with the most text, and the sessions used last. */
async function loadStart(signal) {
  const [list, stored] = await Promise.all([
    call("list", { sort: "passages", limit: 30, media: ["markdown"] }, signal),
    call("session_list", {}, signal),
  ]);
  const titles = new Map(list.documents.map((one) => [one.title, one.lang]));
  const named = [...titles].filter(([title]) => title && title.length < 40).slice(0, 3);
  const examples = named.map(([title, lang]) => (EXAMPLES[lang] || EXAMPLES.en)(title));
  return { examples, sessions: stored.sessions.slice(0, MOST_SESSIONS) };
}

function Start({ route }) {
  const start = useLoaded("start", loadStart);
  const { examples = [], sessions = [] } = start.value || {};
  return html`<div class="start">
    ${examples.length > 0 && html`<h2>For example</h2>`}
    <ul aria-label="Examples">
      ${examples.map(
        (one) =>
          html`<li>
            <button type="button" dir="auto" onClick=${() => askQuestion(one, route)}>${one}</button>
          </li>`,
      )}
    </ul>
    ${sessions.length > 0 && html`<h2>Asked before</h2>`}
    <ul aria-label="Sessions">
      ${sessions.map(
        (one) =>
          html`<li>
            <button type="button" dir="auto" onClick=${() => openSession(one.name)}>
              ${shorten(one.first_question)}
              <small>${formatDate(one.updated_at)}, ${pluralize(one.turns, "question")}</small>
            </button>
          </li>`,
      )}
    </ul>
  </div>`;
}

/** Make a field as high as its text. */
function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

/** Ask questions; a citation opens the reader at its sentence. */
export function Ask({ route, onOpen }) {
  const [, setCount] = useState(0);
  const [extractive, setExtractive] = useState(false);
  const field = useRef(null);
  const { turns, text } = memory;
  const isBusy = turns.at(-1)?.isBusy;
  useEffect(() => {
    const show = () => setCount((old) => old + 1);
    viewers.add(show);
    if (!memory.text && !memory.turns.length && route.q) setDraft(route.q);
    field.current.focus();
    return () => viewers.delete(show);
  }, []);
  useEffect(() => fit(field.current), [text]);
  const ask = (event) => {
    event.preventDefault();
    askQuestion(text, route, extractive);
  };
  const cite = (one) => onOpen({ doc_id: one.doc_id, chunk_id: one.chunk_id, quote: one.quote });
  return html`${turns.length > 0
      ? html`<button type="button" class="plain" onClick=${() => keep({ turns: [], session: "" })}
          disabled=${isBusy}>New conversation</button>`
      : html`<${Start} route=${route} />`}
    <ol class="turns">
      ${turns.map((turn) => html`<${Turn} ...${{ turn, route, onOpen }} onCite=${cite} />`)}
    </ol>
    <form class="question" onSubmit=${ask}>
      <label class="sr" for="question">Ask your notes</label>
      <textarea
        id="question"
        rows="1"
        dir="auto"
        placeholder="Ask your notes"
        ref=${field}
        value=${text}
        onInput=${(event) => setDraft(event.target.value)}
        onKeyDown=${(event) =>
          event.key === "Enter" && !event.shiftKey && !event.isComposing && ask(event)}
      ></textarea>
      ${isBusy
        ? html`<button type="button" onClick=${() => control.abort()}>Stop</button>`
        : html`<button type="submit" class="primary">Ask</button>`}
      <label class="option">
        <input
          type="checkbox"
          checked=${extractive}
          onChange=${(event) => setExtractive(event.target.checked)}
        />
        quotes only, without a model
      </label>
    </form>`;
}
