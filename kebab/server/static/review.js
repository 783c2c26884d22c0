/* Findings of a review beside the lines that they are about, and their fixes as a diff. */

import { call, stream, undoChange } from "./api.js";
import { Failure } from "./parts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./preact.js";
import { lastPart, pluralize } from "./words.js";

const GAP = 12;
const FOUND_MS = 1600;

/** Return the function that gives the line of an offset, in UTF-16 code units of the file. */
function buildLineFinder(text, size) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const breaks = starts.length - 1;
  // The text has line feeds; a file that is longer by one byte for each of them has CRLF.
  const extra = size - new TextEncoder().encode(text).length;
  const width = breaks > 1 && extra >= breaks ? 1 : 0;
  return (offset) => starts.findLastIndex((start, line) => start + line * width <= offset) + 1;
}

async function loadFindings(doc, withModel, onProgress, signal) {
  const { results: [found] } = await call("fetch", { refs: [doc] }, signal);
  const listed = await call("inspect_doc", { name: doc }, signal);
  const findLine = buildLineFinder(found.text || "", listed.document?.size || 0);
  const request = { names: [listed.file || doc], all_pages: true, limit: 500, no_llm: !withModel };
  const pages = [];
  let failure = null;
  await stream(
    "review",
    request,
    (event) => {
      if (event.schema_version === "error.v1") failure = event;
      if (event.type === "error") failure = event.data.error || event.data;
      if (event.type === "items") pages.push(event.data);
      if (event.type === "progress") onProgress(event.data);
    },
    signal,
  );
  if (failure && !pages.length) throw Object.assign(new Error(failure.message), failure);
  const items = pages.flatMap((page) => page.items);
  const run = pages.at(-1)?.run_id;
  const notes = [...new Set(pages.flatMap((page) => page.degraded.map((one) => one.reason)))];
  const rows = items.map((item) => ({ ...item, line: findLine(item.o[0]) }));
  return { run, notes, items: rows.sort((one, two) => one.o[0] - two.o[0]) };
}

/** Show a unified diff; lines are told apart by their sign, not by colour alone. */
export function Diff({ text }) {
  const kinds = { "+": "added", "-": "removed", "@": "hunk" };
  const lines = text.trimEnd().split("\n").filter((line) => !/^(---|\+\+\+) /.test(line));
  return html`<pre class="diff" tabindex="0" aria-label="The change">${lines.map(
    (line) => html`<span class=${kinds[line[0]] || "same"}>${line}${"\n"}</span>`,
  )}</pre>`;
}

/** Return the change of a fix; without `isDry` it is written. */
async function requestChange(run, item, isDry) {
  const request = { run_id: run, uids: [item.uid], dry_run: isDry };
  const { files: [file] = [], error } = await call("review_apply", request);
  if (!file) throw error || { message: "the file is no longer the one that was reviewed" };
  return file;
}

function Finding({ item, run, allowWrite, find, onApplied }) {
  const [change, setChange] = useState(null);
  const [error, setError] = useState(null);
  const preview = () => requestChange(run, item, true).then(setChange, setError);
  const apply = () => requestChange(run, item, false).then(onApplied, setError);
  const go = () => {
    const block = find(item.line);
    block?.scrollIntoView({ block: "center" });
    block?.classList.add("found");
    setTimeout(() => block?.classList.remove("found"), FOUND_MS);
  };
  return html`<div class="finding ${item.s}" data-line=${item.line}>
    <p>
      <button type="button" class="plain" onClick=${go}>line ${item.line}</button>
      <span class="severity"> ${item.s}</span>
    </p>
    <p dir="auto">${item.r}</p>
    ${item.fix && !change && html`<button type="button" onClick=${preview}>Show the change</button>`}
    ${change && html`<${Diff} text=${change.diff} />`}
    ${change &&
    (allowWrite
      ? html`<button type="button" class="primary" onClick=${apply}>Apply</button>`
      : html`<p class="hint">To write it: <code>kebab serve --allow-write</code></p>`)}
    <${Failure} error=${error} />
  </div>`;
}

/** Say what was written, with the way back. */
function Applied({ doc, change, announce, onUndone }) {
  const [error, setError] = useState(null);
  const undo = () =>
    undoChange(doc, lastPart(change.backup)).then(() => {
      announce("Undone");
      onUndone();
    }, setError);
  return html`<p class="applied">
      Written. The original is <bdi class="place">${lastPart(change.backup)}</bdi>
      <button type="button" onClick=${undo}>Undo</button>
    </p>
    <${Failure} error=${error} />`;
}

/** Show the findings of a document, each beside its line where the margin is wide enough. */
export function Findings({ doc, allowWrite, find, shown, announce, onApplied }) {
  const list = useRef(null);
  const [withModel, setWithModel] = useState(false);
  const [turn, setTurn] = useState(0);
  const [change, setChange] = useState(null);
  const show = (next) => {
    setChange(next);
    onApplied();
    setTurn((old) => old + 1);
  };
  const [state, setState] = useState({ value: null, error: null, progress: null });
  useEffect(() => {
    const control = new AbortController();
    setState((old) => ({ ...old, error: null, progress: "reviewing" }));
    const report = ({ emitted, total }) =>
      setState((old) => ({ ...old, progress: `${emitted} of ${total} parts` }));
    loadFindings(doc, withModel, report, control.signal).then(
      (value) => setState({ value, error: null, progress: null }),
      (error) =>
        error.name !== "AbortError" && setState((old) => ({ ...old, error, progress: null })),
    );
    return () => control.abort();
  }, [doc, withModel, turn]);
  useLayoutEffect(() => {
    const place = () => placeBesideLines(list.current, find);
    place();
    const watcher = new ResizeObserver(place);
    if (list.current) watcher.observe(list.current.closest(".spread"));
    return () => watcher.disconnect();
  });
  const { value, error, progress } = state;
  return html`<section aria-label="Review" class="findings" data-shown=${shown.length}>
    <h2>Review</h2>
    <p class="summary" role="status">
      ${progress || (value && (pluralize(value.items.length, "finding") || ""))}
    </p>
    ${change &&
    html`<${Applied} ...${{ doc, change, announce }} onUndone=${() => show(null)} />`}
    ${value?.notes.map((note) => html`<p class="note">${note}</p>`)}
    <${Failure} error=${error} retry=${() => setTurn(turn + 1)} />
    <div ref=${list} class="finding-list">
      ${value?.items.map(
        (item) =>
          html`<${Finding}
            key=${item.uid}
            item=${item}
            run=${value.run}
            allowWrite=${allowWrite}
            find=${find}
            onApplied=${show}
          />`,
      )}
    </div>
    ${!withModel &&
    !progress &&
    html`<button type="button" onClick=${() => setWithModel(true)}>
      Ask the language model too
    </button>`}
  </section>`;
}

/** Move each finding down to its line, below the finding before it. */
function placeBesideLines(list, find) {
  if (!list) return;
  const isBeside = getComputedStyle(list).getPropertyValue("--beside").trim() === "1";
  let bottom = list.getBoundingClientRect().top;
  for (const finding of list.querySelectorAll(".finding")) {
    const block = isBeside ? find(Number(finding.dataset.line)) : null;
    const wanted = block ? block.getBoundingClientRect().top : bottom;
    const space = Math.max(0, wanted - bottom);
    finding.style.marginTop = `${space ? space : GAP}px`;
    bottom += (space || GAP) + finding.offsetHeight;
  }
}
