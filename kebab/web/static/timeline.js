/* Documents by month: a bar for each month, and the documents of the chosen one. */

import { call } from "./api.js";
import { Facts, Failure, follow, labelOf, useLoaded } from "./parts.js";
import { html, useState } from "./preact.js";
import { buildFilters, formatRoute } from "./route.js";
import { formatDate, formatMonth, formatNumber, pluralize } from "./words.js";

const MOST_MONTHS = 50;
const PAGE = 100;

/** Return the months from the newest to the oldest that is counted, also those without one. */
function listMonths(counts) {
  const known = Object.keys(counts).sort();
  if (!known.length) return [];
  const months = [];
  let [year, month] = known.at(-1).split("-").map(Number);
  while (months.length < MOST_MONTHS) {
    const key = `${year}-${String(month).padStart(2, "0")}`;
    months.push({ key, count: counts[key] || 0 });
    if (key <= known[0]) break;
    [year, month] = month === 1 ? [year - 1, 12] : [year, month - 1];
  }
  return months;
}

/** Return the first day of a month, and of the month after it. */
function boundMonth(key) {
  const [year, month] = key.split("-").map(Number);
  const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  return { since: `${key}-01`, until: `${next}-01` };
}

function Bars({ months, chosen, onChoose }) {
  const most = Math.max(1, ...months.map((one) => one.count));
  return html`<ol class="months" aria-label="Documents by month">
    ${months.map(
      ({ key, count }) =>
        html`<li key=${key}>
          <button
            type="button"
            aria-pressed=${key === chosen}
            disabled=${!count}
            onClick=${() => onChoose(key)}
          >
            <span>${formatMonth(key)}</span>
            <meter aria-hidden="true" min="0" max=${most} value=${count}></meter>
            <span class="count">${formatNumber(count)}</span>
          </button>
        </li>`,
    )}
  </ol>`;
}

const describeNothing = (stats) =>
  stats.doc_count ? "This server does not count by month." : "No document is indexed yet.";

/** Show the months of the base, and the documents of one. */
export function Timeline({ route, schema, onOpen }) {
  const months = listMonths(schema?.stats.month_breakdown || {});
  const [picked, setPicked] = useState("");
  const chosen = picked || months[0]?.key || "";
  const bounds = chosen ? boundMonth(chosen) : {};
  const request = { sort: "date", limit: PAGE, ...buildFilters(route), ...bounds };
  const found = useLoaded(chosen ? JSON.stringify(request) : null, (signal) =>
    call("list", request, signal),
  );
  const list = found.isStale ? null : found.value;
  if (!months.length) {
    return html`<section id="results" class="timeline" aria-label="Timeline">
      <p class="advice">${schema ? describeNothing(schema.stats) : "counting"}</p>
    </section>`;
  }
  return html`<section id="results" class="timeline" aria-label="Timeline">
    <${Bars} months=${months} chosen=${chosen} onChoose=${setPicked} />
    <div>
      <h2>${formatMonth(chosen)}</h2>
      <${Failure} error=${found.error} retry=${found.reload} />
      <p class="summary" role="status">${list ? pluralize(list.total, "document") : "reading"}</p>
      <ol class="hits">
        ${list?.documents.map(
          (one) =>
            html`<li key=${one.doc_id} class=${one.doc_id === route.doc ? "open" : ""}>
              <a
                class="title"
                dir="auto"
                href=${formatRoute({ ...route, doc: one.doc_id, at: "" })}
                aria-current=${one.doc_id === route.doc ? "true" : null}
                onClick=${follow(() => onOpen(one))}
                >${one.title}</a
              >
              <${Facts}
                items=${[
                  formatDate(one.date || one.modified_at),
                  html`<bdi class="place">${one.doc_path}</bdi>`,
                  labelOf(one.media),
                ]}
              />
            </li>`,
        )}
      </ol>
      ${list?.has_more &&
      html`<p class="note">the newest ${formatNumber(PAGE)} of ${formatNumber(list.total)}</p>`}
    </div>
  </section>`;
}
