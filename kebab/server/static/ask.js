/* Questions: the streamed answer, its citations, what is doubtful, and stored sessions. */

import { call, renderTexts, stream } from "./api.js";
import { Failure, Markup, useLoaded } from "./parts.js";
import { html, useEffect, useRef, useState } from "./preact.js";
import { buildFilters } from "./route.js";
import { Hits, addSnippets } from "./search.js";
import { describeGaps, formatDate, formatPlace, pluralize } from "./words.js";

const REFUSALS = {
  no_chunks: "nothing was found",
  score_gate: "nothing that was found is close enough",
  absent_terms: "a key term occurs nowhere in the notes",
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
  const suggestions = await addSnippets(answer.suggestions.slice(0, 3), signal);
  return { ...answer, suggestions, html: text, places };
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
      one.setAttribute("aria-label", `Citation ${found.marker}: ${formatPlace(found.citation)}`);
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

function Citations({ citations, onCite }) {
  if (!citations.length) return null;
  return html`<ol class="citations" aria-label="Citations">
    ${citations.map(
      (one) =>
        html`<li>
          <button type="button" class="citation" onClick=${() => onCite(one)}>
            <span class="marker">${one.marker}</span>
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

function Verdict({ answer: { grounded, refusal_reason: reason, coverage, answers_question } }) {
  const gaps = describeGaps(coverage, "convincing");
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

function Turn({ turn, route, onCite, onOpen }) {
  const { question, draft, answer, error, state } = turn;
  const source = answer?.model || (answer?.mode === "extractive" && "sentences of your notes");
  return html`<li class="turn">
    <h2 dir="auto">${question}</h2>
    ${answer
      ? html`<${Verdict} answer=${answer} />
          <${AnswerText} answer=${answer} onCite=${onCite} />
          <ul class="warnings" aria-label="Warnings">
            ${answer.warnings.map((one) => html`<li>${one.message}</li>`)}
          </ul>
          <${Citations} citations=${answer.citations} onCite=${onCite} />
          ${answer.suggestions.length > 0 && html`<p>The nearest passages:</p>`}
          <${Hits} hits=${answer.suggestions} ...${{ route, onOpen }} />
          <p class="facts">${source}</p>`
      : draft && html`<p class="draft" dir="auto">${draft}</p>`}
    ${state && html`<p class="summary" role="status">${state}</p>`}
    <${Failure} error=${error} />
  </li>`;
}

/** Return the turn after an event of `ask --stream`. */
function addEvent(turn, event) {
  switch (event.type) {
    case "retrieval_done":
      return { ...turn, state: `reading ${pluralize(event.hits.length, "passage")}` };
    case "token":
      return { ...turn, draft: turn.draft + event.delta, state: "writing, not checked yet" };
    case "restart":
      return { ...turn, draft: "", state: event.reason };
    case "waiting":
      return { ...turn, state: event.reason };
    case "error":
      return { ...turn, error: event.error, state: "" };
    default:
      return turn;
  }
}

function Sessions({ current, version, onChoose }) {
  const list = useLoaded(`sessions ${version}`, (signal) => call("session_list", {}, signal));
  const sessions = list.value?.sessions || [];
  if (!sessions.length) return null;
  return html`<label class="session"
    >Session
    <select value=${current} onChange=${(event) => onChoose(event.target.value)}>
      <option value="">a new one</option>
      ${current && !sessions.some((one) => one.name === current) &&
      html`<option value=${current}>${current}</option>`}
      ${sessions.map(
        (one) =>
          html`<option value=${one.name}>
            ${one.first_question.slice(0, 60)} (${formatDate(one.updated_at)},${" "}
            ${pluralize(one.turns, "question")})
          </option>`,
      )}
    </select>
  </label>`;
}

const restore = (turn) => ({
  question: turn.question,
  draft: turn.answer,
  state: turn.refusal_reason ? REFUSALS[turn.refusal_reason] : "",
});

/** Return a name of a session that is not taken: `web` and the time. */
const nameSession = () => `web-${new Date().toISOString().slice(0, 19).replace(/\D/g, "")}`;

/** Ask questions; a citation opens the reader at its sentence. */
export function Ask({ route, onOpen }) {
  const [turns, setTurns] = useState([]);
  const [session, setSession] = useState("");
  const [version, setVersion] = useState(0);
  const [text, setText] = useState(route.q);
  const [extractive, setExtractive] = useState(false);
  const control = useRef(null);
  const isBusy = turns.at(-1)?.isBusy;
  const change = (update) => setTurns((old) => [...old.slice(0, -1), update(old.at(-1))]);
  useEffect(() => {
    document.getElementById("question").focus();
    return () => control.current?.abort();
  }, []);

  const ask = async (event) => {
    event.preventDefault();
    const question = text.trim();
    if (!question || isBusy) return;
    const name = session || nameSession();
    const request = { question, extractive, session: name, ...buildFilters(route) };
    control.current = new AbortController();
    setSession(name);
    setText("");
    setTurns((old) => [...old, { question, draft: "", state: "searching", isBusy: true }]);
    try {
      const { signal } = control.current;
      let final = null;
      const add = (one) => {
        if (one.type === "final") final = one;
        else change((turn) => addEvent(turn, one));
      };
      await stream("ask", request, add, signal);
      if (final) {
        const answer = await addHtml(final.answer, signal);
        change((turn) => ({ ...turn, draft: "", answer, state: "" }));
      }
    } catch (error) {
      const words = error.name === "AbortError" ? { message: "stopped" } : error;
      change((turn) => ({ ...turn, error: words }));
    }
    change((turn) => ({ ...turn, state: turn.answer || turn.error ? "" : "no end", isBusy: false }));
    setVersion((old) => old + 1);
  };
  const choose = async (name) => {
    setSession(name);
    const reply = name ? await call("session_show", { name }).catch(() => null) : null;
    setTurns((reply?.turns || []).map(restore));
  };
  const cite = (one) =>
    onOpen({ doc_id: one.doc_id, chunk_id: one.chunk_id, quote: one.quote });
  return html`<${Sessions} current=${session} version=${version} onChoose=${choose} />
    <ol class="turns">
      ${turns.map((turn) => html`<${Turn} ...${{ turn, route, onOpen }} onCite=${cite} />`)}
    </ol>
    <form class="question" onSubmit=${ask}>
      <label for="question">Ask your notes</label>
      <textarea
        id="question"
        rows="2"
        dir="auto"
        value=${text}
        onInput=${(event) => setText(event.target.value)}
        onKeyDown=${(event) =>
          event.key === "Enter" && !event.shiftKey && !event.isComposing && ask(event)}
      ></textarea>
      <div class="buttons">
        ${isBusy
          ? html`<button type="button" onClick=${() => control.current.abort()}>Stop</button>`
          : html`<button type="submit" class="primary">Ask</button>`}
        <label class="option">
          <input
            type="checkbox"
            checked=${extractive}
            onChange=${(event) => setExtractive(event.target.checked)}
          />
          only sentences of the notes, without a language model
        </label>
      </div>
    </form>`;
}
