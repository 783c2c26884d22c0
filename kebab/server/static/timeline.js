/* Documents by month: a bar for each month, and the documents of the chosen one. */

import { call } from "./api.js";
import { Failure, useLoaded } from "./parts.js";
import { html, useState } from "./preact.js";
import { buildFilters } from "./route.js";
import { Hits } from "./search.js";
import { formatMonth, formatNumber, pluralize } from "./words.js";

const MOST_MONTHS = 120;
const PAGE = 100;

/** Return the month that is some months after another. */
function shiftMonth(key, step) {
  const [year, month] = key.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1 + step)).toISOString().slice(0, 7);
}

/** Return the months from the newest to the oldest that is counted, also those without one. */
function listMonths(counts) {
  const known = Object.keys(counts).sort();
  const months = [];
  let key = known.at(-1);
  while (key >= known[0] && months.length < MOST_MONTHS) {
    months.push({ key, count: counts[key] || 0 });
    key = shiftMonth(key, -1);
  }
  return months;
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
            <span class="bar" style=${{ inlineSize: `${(100 * count) / most}%` }}></span>
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
  const chosen = picked || months[0]?.key;
  const request = { sort: "date", limit: PAGE, ...buildFilters(route) };
  const found = useLoaded(chosen ? `${chosen} ${JSON.stringify(request)}` : null, (signal) => {
    const bounds = { since: `${chosen}-01`, until: `${shiftMonth(chosen, 1)}-01` };
    return call("list", { ...request, ...bounds }, signal);
  });
  const list = found.isStale ? null : found.value;
  if (!chosen) {
    return html`<p class="advice">${schema ? describeNothing(schema.stats) : "counting"}</p>`;
  }
  return html`<${Bars} months=${months} chosen=${chosen} onChoose=${setPicked} />
    <div>
      <h2>${formatMonth(chosen)}</h2>
      <${Failure} error=${found.error} retry=${found.reload} />
      <p class="summary" role="status">
        ${list ? pluralize(list.total, "document") : "reading"}
        ${list?.has_more && `, the newest ${formatNumber(PAGE)}`}
      </p>
      <${Hits} hits=${list?.documents || []} ...${{ route, onOpen }} />
    </div>`;
}
