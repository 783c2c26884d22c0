/* Small parts that several views use. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./preact.js";
import { nameType } from "./words.js";

/** Load a value whenever `key` changes; the old value stays until the new one has arrived. */
export function useLoaded(key, load) {
  const [state, setState] = useState({ value: null, error: null, key: null });
  const [turn, setTurn] = useState(0);
  useLayoutEffect(() => {
    if (key === null) return setState({ value: null, error: null, key: null });
    const control = new AbortController();
    load(control.signal).then(
      (value) => !control.signal.aborted && setState({ value, error: null, key }),
      (error) =>
        error.name !== "AbortError" &&
        !control.signal.aborted &&
        setState((old) => ({ ...old, error, key })),
    );
    return () => control.abort();
  }, [key, turn]);
  return { ...state, isStale: key !== state.key, reload: () => setTurn((old) => old + 1) };
}

/** Return `value` once it has not changed for `delay` ms. */
export function useSettled(value, delay) {
  const [settled, setSettled] = useState(value);
  useLayoutEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return settled;
}

/** Show an error in the words of the server, with the command that helps. */
export function Failure({ error, retry }) {
  if (!error) return null;
  return html`<div class="failure" role="alert">
    <p>${error.message}</p>
    ${error.hint && html`<p class="hint"><bdi><code>${error.hint}</code></bdi></p>`}
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/**
 * Return a text with its ranges of code points marked, shortened to what is worth showing.
 *
 * Markdown loses the lines that only repeat a heading, and the marks of headings and emphasis.
 */
export function markSnippet(text, ranges, { media, headings = [] }) {
  const isMarkdown = media.startsWith("text/markdown");
  const marked = new Set();
  for (const [start, end] of ranges) for (let at = start; at < end; at += 1) marked.add(at);
  const parts = [];
  let offset = 0;
  for (const line of text.split("\n")) {
    const characters = [...line];
    const start = offset;
    offset += characters.length + 1;
    const [prefix] = isMarkdown ? line.match(/^(#{1,6}\s+|>\s?|[-*+]\s+)?/) : [""];
    const links = isMarkdown ? [...line.matchAll(/\]\([^)\s]*\)|!?\[(?=[^\]]*\]\()/g)] : [];
    const isAddress = (index) =>
      links.some((one) => {
        const first = [...line.slice(0, one.index)].length;
        return first <= index && index < first + [...one[0]].length;
      });
    const isHeading = prefix.startsWith("#") && headings.includes(line.slice(prefix.length).trim());
    if (isHeading || (isMarkdown && /^\s*(```.*|[|\s:-]+)?$/.test(line))) continue;
    characters.forEach((character, index) => {
      if (index < prefix.length || isAddress(index)) return;
      if (isMarkdown && (character === "`" || (character === "*" && line.includes("**")))) return;
      if (isMarkdown && character === "|" && line.startsWith("|")) {
        if (index && index < characters.length - 1) addCharacter(parts, "·", false);
        return;
      }
      addCharacter(parts, character, marked.has(start + index));
    });
    addCharacter(parts, isMarkdown ? " " : "\n", false);
  }
  return parts.map((part) => (part.isMarked ? html`<mark>${part.text}</mark>` : part.text));
}

function addCharacter(parts, text, isMarked) {
  const last = parts.at(-1);
  if (last && last.isMarked === isMarked) last.text += text;
  else parts.push({ text, isMarked });
}

/** Return whether the reader is beside the list. */
export const isWide = () => matchMedia("(min-width: 900px)").matches;

/** Show a confidence as bars and a word. */
export const Confidence = ({ name, title }) =>
  html`<span class="confidence ${name}" title=${title}>${name}</span>`;

/** Show what a document is, and when. */
export function Facts({ items }) {
  const shown = items.filter(Boolean);
  return html`<p class="facts">
    ${shown.map((item, index) => [index ? html`<span aria-hidden="true"> · </span>` : null, item])}
  </p>`;
}

export const isCode = (media) =>
  !/^text\/(markdown|plain|html)|^application\/(pdf|vnd|msword|epub|rtf)|^message\//.test(media);

/** Return whether a format is shown with its label in a list. */
export const labelOf = (media) => (media.startsWith("text/markdown") ? null : nameType(media));

/** Open a modal dialog while it is shown; Esc and the given function close it. */
export function Dialog({ label, onClose, children }) {
  const element = useRef(null);
  useEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`<dialog ref=${element} aria-label=${label} onCancel=${onClose} onClose=${onClose}>
    ${children}
  </dialog>`;
}

/** Return an event handler that follows a link of the page without loading it again. */
export const follow = (action) => (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey) return;
  if (event.shiftKey || event.altKey) return;
  event.preventDefault();
  action(event);
};
