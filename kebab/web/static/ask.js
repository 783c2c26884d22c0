/* Questions: the streamed answer, its citations, what is doubtful, and stored sessions. */

import { call, stream } from "./api.js";
import { Failure, groupCharacters, useLoaded } from "./parts.js";
import { html, useEffect, useRef, useState } from "./preact.js";
import { buildFilters } from "./route.js";
import { Hits } from "./search.js";
import { describeGaps, formatDate, formatPlace, pluralize } from "./words.js";

const REFUSALS = {
  no_chunks: "nothing was found",
  score_gate: "nothing that was found is close enough",
  absent_terms: "a key term occurs nowhere in the notes",
  llm_self_judge: "the passages do not answer it",
  unsupported_claims: "the claims had no support in the passages",
  llm_stream_aborted: "the model stopped in the middle",
};

/** Return the ranges of an answer that are doubtful or cited; a doubtful one counts first. */
function buildRanges({ citations, warnings }) {
  const doubtful = warnings
    .filter((warning) => warning.span)
    .map(({ span: [start, end], message }) => ({ start, end, message }));
  const cited = citations.flatMap((citation) =>
    citation.spans.map(([start, end]) => ({ start, end, citation })),
  );
  return [...doubtful, ...cited];
}

const INLINE = /(\[\d+\])|(`[^`\n]+`)|(\*\*[^*\n]+\*\*)/gu;

/** Cut a line of an answer at markers, code and emphasis, and where a range begins or ends. */
function cutLine(line, offset, ranges) {
  const characters = [...line];
  const tags = characters.map(() => "span");
  for (const match of line.matchAll(INLINE)) {
    const start = [...line.slice(0, match.index)].length;
    const end = start + [...match[0]].length;
    const [tag, width] = match[1] ? [match[1], 0] : match[2] ? ["code", 1] : ["strong", 2];
    tags.fill(null, start, end).fill(tag, start + width, end - width);
  }
  const find = (at) => ranges.findIndex((one) => one.start <= at && at < one.end);
  const getKey = (at) => tags[at] && `${tags[at]} ${find(offset + at)}`;
  return groupCharacters(characters, getKey).map(({ key, text }) => {
    const [tag, place] = key.split(" ");
    return { tag, text, range: ranges[place] };
  });
}

function Piece({ piece: { tag, text, range }, citations, onCite }) {
  const marker = tag.startsWith("[") && Number(tag.slice(1, -1));
  const citation = citations.find((one) => one.marker === marker);
  if (citation) {
    return html`<button
      type="button"
      class="marker"
      aria-label=${`Citation ${marker}: ${formatPlace(citation.citation)}`}
      onClick=${() => onCite(citation)}
    >
      ${marker}
    </button>`;
  }
  const inner = tag === "code" || tag === "strong" ? html`<${tag}>${text}<//>` : text;
  if (!range) return inner;
  if (range.message) return html`<mark class="doubtful" title=${range.message}>${inner}</mark>`;
  return html`<span class="cited" onClick=${() => onCite(range.citation)}>${inner}</span>`;
}

/** Show the text of an answer: paragraphs, lists, headings and code, with its citations. */
function AnswerText({ text, ranges = [], citations = [], onCite }) {
  const blocks = [];
  let offset = 0;
  let isCode = false;
  for (const line of text.split("\n")) {
    const start = offset;
    offset += [...line].length + 1;
    if (/^\s*(```|~~~)/.test(line)) {
      isCode = !isCode;
      if (isCode) blocks.push({ tag: "pre", lines: [] });
    } else if (isCode) blocks.at(-1).lines.push(line);
    else if (line.trim()) {
      const [prefix, heading, item] = line.match(/^(#{1,6}\s+)|^(\s*(?:[-*+]|\d+[.)])\s+)|^/);
      const tag = heading ? "h3" : item ? "li" : "p";
      const pieces = cutLine(line.slice(prefix.length), start + [...prefix].length, ranges);
      blocks.push({ tag, pieces, label: /\d/.test(item || "") ? item.trim() : "•" });
    }
  }
  return html`<div class="answer-text" dir="auto">
    ${blocks.map((block) => {
      if (block.tag === "pre") return html`<pre>${block.lines.join("\n")}</pre>`;
      const inner = block.pieces.map(
        (piece) => html`<${Piece} ...${{ piece, citations, onCite }} />`,
      );
      if (block.tag === "li") {
        return html`<p class="item"><span aria-hidden="true">${block.label}</span>${inner}</p>`;
      }
      return html`<${block.tag} dir="auto">${inner}<//>`;
    })}
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
          <${AnswerText}
            text=${answer.answer}
            ranges=${buildRanges(answer)}
            citations=${answer.citations}
            onCite=${onCite}
          />
          <ul class="warnings" aria-label="Warnings">
            ${answer.warnings.map((one) => html`<li>${one.message}</li>`)}
          </ul>
          <${Citations} citations=${answer.citations} onCite=${onCite} />
          ${answer.suggestions.length > 0 && html`<p>The nearest passages:</p>`}
          <${Hits} hits=${answer.suggestions.slice(0, 3)} ...${{ route, onOpen }} />
          <p class="facts">${source}</p>`
      : draft && html`<div class="draft"><${AnswerText} text=${draft} /></div>`}
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
    case "final":
      return { ...turn, draft: "", answer: event.answer, state: "" };
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
      const add = (one) => change((turn) => addEvent(turn, one));
      await stream("ask", request, add, control.current.signal);
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
