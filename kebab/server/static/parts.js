/* Small parts that several views use. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./preact.js";
import { formatRoute } from "./route.js";
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

/** Show an error in the words of the server, with the command that helps. */
export function Failure({ error, retry }) {
  if (!error) return null;
  return html`<div class="failure" role="alert">
    <p>${error.message}</p>
    ${error.hint && html`<p class="hint"><bdi><code>${error.hint}</code></bdi></p>`}
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** Show what is said while a value is not there: that it is loaded, or why it cannot be. */
export const Waiting = ({ for: { value, error, reload }, label }) =>
  error
    ? html`<${Failure} error=${error} retry=${reload} />`
    : !value && html`<p class="summary" role="status">${label}</p>`;

/** Show HTML of the server. */
export const Markup = ({ text, ...rest }) =>
  html`<div dir="auto" ...${rest} dangerouslySetInnerHTML=${{ __html: text }}></div>`;

/** Return whether the reader is beside the list. */
export const isWide = () => matchMedia("(min-width: 900px)").matches;

/** Show what a document is, and when. */
export function Facts({ items }) {
  const shown = items.filter(Boolean);
  return html`<p class="facts">
    ${shown.map((item, index) => [index ? html`<span aria-hidden="true"> · </span>` : null, item])}
  </p>`;
}

/** Return whether a format is shown with its label in a list. */
export const labelOf = (media) => (media.startsWith("text/markdown") ? null : nameType(media));

/** Open a modal dialog while it is shown; Esc and the given function close it.
 *
 * `close()` gives the focus back, and its event comes later: it must not close the next dialog. */
export function Dialog({ label, onClose, children }) {
  const element = useRef(null);
  useEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  const end = (event) => event.target.isConnected && onClose();
  return html`<dialog ref=${element} aria-label=${label} onCancel=${end} onClose=${end}>
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

/** Show a link to a state of the page. */
export function RouteLink({ target, onNavigate, children, ...rest }) {
  const go = follow(() => onNavigate(target));
  return html`<a dir="auto" href=${formatRoute(target)} onClick=${go} ...${rest}>${children}</a>`;
}

/** Show links to documents, each with its `id`, its `title`, and perhaps `at`, a passage. */
export function DocLinks({ label, documents, route, onNavigate }) {
  if (!documents.length) return null;
  return html`<div class="doc-links">
    <h2>${label}</h2>
    <ul>
      ${documents.map(({ id, title, at = "" }) => {
        const target = { ...route, doc: id, at, quote: "" };
        return html`<li key=${id}><${RouteLink} ...${{ target, onNavigate }}>${title}<//></li>`;
      })}
    </ul>
  </div>`;
}
