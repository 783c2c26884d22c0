/* The state of the base: what it holds, what is missing, its health, and a running ingest. */

import { call, stream } from "./api.js";
import { Failure, useLoaded } from "./parts.js";
import { html, useEffect, useState } from "./preact.js";
import {
  describeGaps,
  describeIndexing,
  formatBytes,
  formatDate,
  formatNumber,
  formatSeconds,
  pluralize,
} from "./words.js";

const POLL_MS = 2000;
const ORDER = { fail: 0, warn: 1, ok: 2, skip: 3 };

function Progress({ done, total, unit, left, label }) {
  const known = total > 0;
  return html`<div class="progress">
    <p role="status">
      ${label}${known && `: ${formatNumber(done)} of ${formatNumber(total)} ${unit}`}
      ${left > 0 && `, about ${formatSeconds(left)} left`}
    </p>
    <progress aria-label=${label} max=${known ? total : null} value=${known ? done : null}></progress>
  </div>`;
}

/** Run an ingest, and return its state. */
function useIngest(onEnd) {
  const [state, setState] = useState(null);
  const run = async () => {
    setState({ label: "looking at the folders" });
    try {
      await stream("ingest", {}, (event) => {
        if (event.schema_version === "error.v1") setState({ error: event });
        else if (event.report) setState({ report: event.report });
        else if (event.total) {
          const left = event.seconds_left_alone ?? event.seconds_left;
          const label = event.kind === "embed_batch" ? "computing vectors" : "reading";
          setState({ label, done: event.done, total: event.total, unit: event.unit, left });
        }
      });
    } catch (error) {
      setState({ error });
    }
    onEnd();
  };
  return { state, run };
}

function Ingest({ allowWrite, indexing, onEnd }) {
  const { state, run } = useIngest(onEnd);
  const report = state?.report;
  const changes = report && ["new", "updated", "removed", "errors"].filter((key) => report[key]);
  return html`<section aria-label="Reading files">
    <h2>Reading files</h2>
    ${indexing &&
    !state?.label &&
    html`<${Progress}
      label="another process is reading"
      done=${indexing.done}
      total=${indexing.total}
      unit=${indexing.unit}
      left=${indexing.seconds_left}
    />`}
    ${state?.label && html`<${Progress} ...${state} />`}
    ${report &&
    html`<p role="status">
      ${changes.length
        ? changes.map((key) => `${formatNumber(report[key])} ${key}`).join(", ")
        : "nothing has changed"}${`, in ${formatSeconds(report.duration_ms / 1000)}`}
    </p>`}
    <${Failure} error=${state?.error} />
    ${allowWrite
      ? html`<button type="button" onClick=${run} disabled=${Boolean(state?.label || indexing)}>
          Read new and changed files
        </button>`
      : html`<p class="hint">
          This page only reads. To read files from here: <code>kebab serve --http --allow-write</code>
        </p>`}
  </section>`;
}

function Checks({ checks }) {
  const rows = [...checks].sort((one, two) => ORDER[one.status] - ORDER[two.status]);
  return html`<div class="table" tabindex="0" role="group" aria-label="Checks">
    <table>
      <thead>
        <tr>
          <th scope="col">result</th>
          <th scope="col">check</th>
          <th scope="col">what was found</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (one) =>
            html`<tr class=${one.status}>
              <td><span class="status ${one.status}">${one.status}</span></td>
              <th scope="row">${one.name.replaceAll("_", " ")}</th>
              <td>
                <bdi>${one.summary}</bdi>
                ${one.fix && html`<p class="hint"><bdi>${one.fix}</bdi></p>`}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function Contents({ stats, sources }) {
  const facts = [
    [formatNumber(stats.doc_count), "documents"],
    [formatNumber(stats.chunk_count), "passages"],
    [formatNumber(stats.pending_embeddings), "passages without a vector"],
    [formatBytes(stats.index_bytes.sqlite + stats.index_bytes.lancedb), "on disk"],
  ];
  return html`<dl class="figures">
      ${facts.map(
        ([value, label]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <ul class="sources">
      ${sources.map(
        (one) =>
          html`<li>
            <bdi>${one.folder}</bdi>: ${pluralize(one.documents, "document")}${one.state !==
              "present" && `, the folder is ${one.state}`}${one.last_ingest_at &&
            `, read ${formatDate(one.last_ingest_at)}`}
          </li>`,
      )}
    </ul>`;
}

/** Show the state of the base. `base` is its schema and its sources, `reload` reads them again. */
export function Status({ base, reload, allowWrite }) {
  const doctor = useLoaded("doctor", (signal) => call("doctor", {}, signal));
  const indexing = base?.schema.indexing;
  useEffect(() => {
    if (!indexing) return undefined;
    const timer = setTimeout(reload, POLL_MS);
    return () => clearTimeout(timer);
  }, [base]);
  const report = doctor.value;
  const gaps = report && describeGaps(report.coverage, "healthy");
  const verdict = report && (report.ok ? "Healthy" : "Not healthy");
  const end = () => {
    doctor.reload();
    reload();
  };
  return html`<section id="results" class="status" aria-label="Status">
    <h1>
      ${verdict || "Checking"}${gaps && report.ok && html`<small>, as far as it is read</small>`}
    </h1>
    ${gaps && html`<p class="note">${gaps}</p>`}
    ${indexing && html`<p class="note">an ingest is running: ${describeIndexing(indexing)}</p>`}
    ${base && html`<${Contents} stats=${base.schema.stats} sources=${base.sources} />`}
    <${Ingest} allowWrite=${allowWrite} indexing=${indexing} onEnd=${end} />
    <section aria-label="Health">
      <h2>Health</h2>
      <${Failure} error=${doctor.error} retry=${doctor.reload} />
      ${!report && !doctor.error && html`<p class="summary" role="status">checking</p>`}
      ${report && html`<${Checks} checks=${report.checks} />`}
    </section>
  </section>`;
}
