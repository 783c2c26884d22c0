/* The published HTTP API: calls of operations, streams of events, and pages of documents. */

/** Return what went wrong, in the words of `error.v1`, as an error. */
const buildError = ({ message, code, hint }) =>
  Object.assign(new Error(message || "something unexpected happened"), { code, hint });

const SILENT = {
  code: "server_away",
  message: "the server does not answer",
  hint: "kebab serve --open",
};

/** Return what a step of a request returns; a server that is away is an error of ours. */
const reach = (step) =>
  step.catch((error) => {
    throw error.name === "AbortError" ? error : buildError(SILENT);
  });

/** Return the response of the server; with a body it is a POST. */
async function send(path, { body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept, ...(body && { "Content-Type": "application/json" }) };
  const method = body ? "POST" : "GET";
  const options = { method, headers, signal, body: body && JSON.stringify(body) };
  const response = await reach(fetch(path, options));
  if (response.ok) return response;
  const reply = await response.json().catch(() => ({}));
  if (response.status === 401) {
    reply.code = "unauthorized";
    reply.message = "this browser is not signed in any more";
    reply.hint = "kebab serve --open";
  }
  throw buildError(reply.error || reply); // `not_found.v1` has its words one level down
}

/** Return the reply of an operation; `not_found.v1` is a reply too. */
export const call = (operation, body = {}, signal = undefined) =>
  send(`/v1/${operation}`, { body, signal }).then((response) => response.json());

/** Give every event of an operation to `onEvent`, in order. */
export async function stream(operation, body, onEvent, signal = undefined) {
  const response = await send(`/v1/${operation}`, { body, accept: "application/x-ndjson", signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reach(reader.read());
    const lines = (rest + (value || "")).split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) if (line) onEvent(JSON.parse(line));
    if (done) return;
  }
}

/** Return the rendered document, or the part of it around a place, as HTML of the server. */
export const readDocument = (path, signal) =>
  send(path, { signal }).then((response) => response.text());

/** Return the HTML of snippets or answers, each an object with its `text`, `media` and `marks`. */
export const renderTexts = (texts, signal) =>
  send("/page/render", { body: { texts }, signal })
    .then((response) => response.json())
    .then((reply) => reply.html);

/** Open the editor of the user on the machine of the server. */
export const openInEditor = (doc, line) => send("/page/open", { body: { doc, line } });

/** Put the original back that is kept beside a file; what is there now becomes the copy. */
export const undoChange = (doc, backup) => send("/page/undo", { body: { doc, backup } });

/** Return whether the server answers; any status is an answer. */
export const isServerThere = () => fetch("/v1/health").then(() => true, () => false);
