/* The published HTTP API: calls of operations, streams of events, and pages of documents. */

/** What went wrong, in the words of `error.v1`. */
export class ApiError extends Error {
  constructor(reply, status) {
    super(reply.message || "something unexpected happened");
    this.code = reply.code || "generic";
    this.hint = reply.hint || null;
    this.status = status;
  }
}

const SILENT = {
  code: "server_away",
  message: "the server does not answer",
  hint: "kebab serve --open",
};

async function send(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(SILENT, 0);
  }
}

async function refuse(response) {
  const reply = await response.json().catch(() => ({}));
  if (response.status === 401) {
    reply.code = "unauthorized";
    reply.message = "this browser is not signed in any more";
    reply.hint = "kebab serve --open";
  }
  throw new ApiError(reply, response.status);
}

function post(operation, request, accept, signal) {
  return send(`/v1/${operation}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: accept },
    body: JSON.stringify(request),
    signal,
  });
}

/** Return the reply of an operation; `not_found.v1` is a reply too. */
export async function call(operation, request = {}, signal = undefined) {
  const response = await post(operation, request, "application/json", signal);
  if (!response.ok) await refuse(response);
  return response.json();
}

/** Give every event of an operation to `onEvent`, in order. */
export async function stream(operation, request, onEvent, signal = undefined) {
  const response = await post(operation, request, "application/x-ndjson", signal);
  if (!response.ok) await refuse(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new ApiError(SILENT, 0);
    });
    const lines = (rest + (value || "")).split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) if (line) onEvent(JSON.parse(line));
    if (done) return;
  }
}

/** Return the rendered document, or the part of it around a place, as HTML of the server. */
export async function readDocument(path, signal) {
  const headers = { Accept: "application/json" }; // errors only; a document is always HTML
  const response = await send(path, { headers, signal });
  if (!response.ok) await refuse(response);
  return response.text();
}

/** Open the editor of the user on the machine of the server. */
export async function openInEditor(doc, line) {
  const response = await send("/page/open", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ doc, line }),
  });
  if (!response.ok) await refuse(response);
}

/** Return whether the server answers; any status is an answer. */
export async function isServerThere() {
  return send("/v1/health", { headers: { Accept: "application/json" } }).then(
    () => true,
    () => false,
  );
}
