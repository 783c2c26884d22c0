/* The state of the base: what it holds, what is missing, its health, and a running ingest. */

import { call, stream } from "./api.js";
import { Failure, Waiting, useLoaded } from "./parts.js";
import { html, useEffect, useState } from "./preact.js";
import {
  describeGaps,
  formatDate,
  formatMegabytes,
  formatNumber,
  formatSeconds,
  pluralize,
} from "./words.js";

const POLL_MS = 2000;
const ORDER = { fail: 0, warn: 1, ok: 2, skip: 3 };
const CHANGES = ["new", "updated", "removed", "errors"];

function Progress({ done, total, unit, left, label }) {
  const known = total > 0;
  return html`<p role="status">
      ${label}${known && `: ${formatNumber(done)} of ${formatNumber(total)} ${unit}`}
      ${left > 0 && `, about ${formatSeconds(left)} left`}
    </p>
    <progress aria-label=${label} max=${known ? total : null} value=${known ? done : null}></progress>`;
}

/** Return the state of an ingest after one of its events. */
function addEvent(state, event) {
  if (event.schema_version === "error.v1") return { error: event };
  if (event.report) return { report: event.report };
  if (!event.total) return state;
  const { done, total, unit } = event;
  const label = event.kind === "embed_batch" ? "computing vectors" : "reading";
  return { label, done, total, unit, left: event.seconds_left };
}

function describeReport(report) {
  const changes = CHANGES.filter((key) => report[key]).map(
    (key) => `${formatNumber(report[key])} ${key}`,
  );
  const duration = formatSeconds(report.duration_ms / 1000);
  return `${changes.join(", ") || "nothing has changed"}, in ${duration}`;
}

function Ingest({ allowWrite, indexing, onEnd }) {
  const [state, setState] = useState({});
  const run = async () => {
    setState({ label: "looking at the folders" });
    try {
      await stream("ingest", {}, (event) => setState((old) => addEvent(old, event)));
    } catch (error) {
      setState({ error });
    }
    onEnd();
  };
  const other = indexing && {
    ...indexing,
    label: "another process is reading",
    left: indexing.seconds_left,
  };
  const shown = state.label ? state : other;
  return html`<section aria-label="Reading files">
    <h2>Reading files</h2>
    ${shown && html`<${Progress} ...${shown} />`}
    ${state.report && html`<p role="status">${describeReport(state.report)}</p>`}
    <${Failure} error=${state.error} />
    ${allowWrite
      ? html`<button type="button" onClick=${run} disabled=${Boolean(shown)}>
          Read new and changed files
        </button>`
      : html`<p class="hint">
          This page only reads. To read files from here: <code>kebab serve --allow-write</code>
        </p>`}
  </section>`;
}

const Checks = ({ checks, label }) =>
  html`<ul class="checks" aria-label=${label}>
    ${[...checks]
      .sort((one, two) => ORDER[one.status] - ORDER[two.status])
      .map(
        (one) =>
          html`<li>
            <span class="state ${one.status}">${one.status}</span>
            <strong>${one.name.replaceAll("_", " ")}</strong>
            <bdi>${one.summary}</bdi>
            ${one.fix && html`<bdi class="hint">${one.fix}</bdi>`}
          </li>`,
      )}
  </ul>`;

/** Show the names of files that are missing or of which a part is missing. */
function Files({ coverage }) {
  const reason = coverage.partial === 1 && coverage.partial_reasons?.[0];
  const partly = `only a part is searched${reason ? `: ${reason}` : ""}`;
  const rows = [
    ...(coverage.failed_examples || []).map((name) => [name, "could not be read"]),
    ...coverage.partial_examples.map((name) => [name, partly]),
  ];
  const more = coverage.failed + coverage.partial - rows.length;
  if (!rows.length) return null;
  return html`<ul class="files" aria-label="Files with problems">
    ${rows.map(([name, reason]) => html`<li><bdi>${name}</bdi>: ${reason}</li>`)}
    ${more > 0 && html`<li>${pluralize(more, "more file")}</li>`}
  </ul>`;
}

function Contents({ stats, sources }) {
  const facts = {
    documents: formatNumber(stats.doc_count),
    passages: formatNumber(stats.chunk_count),
    "passages without a vector": formatNumber(stats.pending_embeddings),
    "on disk": formatMegabytes(stats.index_bytes.sqlite + stats.index_bytes.lancedb),
  };
  const describe = (source) =>
    [
      pluralize(source.documents, "document"),
      source.state !== "present" && `the folder is ${source.state}`,
      source.last_ingest_at && `read ${formatDate(source.last_ingest_at)}`,
    ].filter(Boolean);
  return html`<dl class="figures">
      ${Object.entries(facts).map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <ul class="sources">
      ${sources.map((one) => html`<li><bdi>${one.folder}</bdi>: ${describe(one).join(", ")}</li>`)}
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
  const coverage = report?.coverage && { ...report.coverage, indexing: null };
  const gaps = describeGaps(coverage, "healthy");
  const verdict = report && (report.ok ? "Healthy" : "Not healthy");
  const isProblem = (one) => one.status === "fail" || one.status === "warn";
  const problems = (report?.checks || []).filter(isProblem);
  const passed = (report?.checks || []).filter((one) => !isProblem(one));
  return html`<h1>
      ${verdict || "Checking"}${gaps && report.ok && html`<small>, as far as it is read</small>`}
    </h1>
    ${gaps && html`<p class="note">${gaps}</p>`}
    <${Waiting} for=${doctor} label="checking" />
    ${coverage && html`<${Files} coverage=${coverage} />`}
    ${problems.length > 0 && html`<${Checks} checks=${problems} label="Problems" />`}
    ${base && html`<${Contents} stats=${base.schema.stats} sources=${base.sources} />`}
    <${Ingest} ...${{ allowWrite, indexing }} onEnd=${() => [doctor.reload(), reload()]} />
    ${passed.length > 0 &&
    html`<details class="passed">
      <summary>${pluralize(passed.length, "check")} without a problem</summary>
      <${Checks} checks=${passed} label="Checks" />
    </details>`}
    <form method="post" action="/logout"><button type="submit">Sign this browser out</button></form>`;
}
