/* Documents by year and month: a bar for each, and the documents of the chosen one. */

import { call } from "./api.js";
import { Failure, Waiting, useLoaded } from "./parts.js";
import { html, useState } from "./preact.js";
import { buildFilters } from "./route.js";
import { Hits } from "./search.js";
import { formatMonth, formatNumber, nameMonth, pluralize } from "./words.js";

const PAGE = 100;

/** Return the month that is some months after another. */
function shiftMonth(key, step) {
  const [year, month] = key.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1 + step)).toISOString().slice(0, 7);
}

/** Return the years from the newest, each with its months from the newest and their counts. */
function listYears(counts) {
  const years = new Map();
  for (const key of Object.keys(counts).sort().reverse()) {
    const year = years.get(key.slice(0, 4)) || { year: key.slice(0, 4), count: 0, months: [] };
    year.count += counts[key];
    year.months.push({ key, count: counts[key] });
    years.set(year.year, year);
  }
  return [...years.values()];
}

/** Show a bar of its share of the highest count. */
const Bar = ({ label, count, most }) =>
  html`<span>${label}</span>
    <span class="bar"><span style=${{ inlineSize: `${(100 * count) / most}%` }}></span></span>
    <span class="count">${formatNumber(count)}</span>`;

function Years({ years, chosen, onChoose }) {
  const mostOfYear = Math.max(...years.map((one) => one.count));
  const most = Math.max(...years.flatMap((one) => one.months.map((month) => month.count)));
  return html`<div class="years" role="group" aria-label="Documents by year">
    ${years.map(
      ({ year, count, months }) =>
        html`<details key=${year} open=${chosen.startsWith(year)}>
          <summary><${Bar} label=${year} count=${count} most=${mostOfYear} /></summary>
          <ol class="months">
            ${months.map(
              (one) =>
                html`<li key=${one.key}>
                  <button
                    type="button"
                    aria-pressed=${one.key === chosen}
                    onClick=${() => onChoose(one.key)}
                  >
                    <${Bar} label=${nameMonth(one.key)} count=${one.count} most=${most} />
                  </button>
                </li>`,
            )}
          </ol>
        </details>`,
    )}
  </div>`;
}

/** Show the years and months of the documents that pass the filters, and the documents of one. */
export function Timeline({ route, onOpen }) {
  const filters = buildFilters(route);
  const months = useLoaded(JSON.stringify(filters), (signal) =>
    call("list", { limit: 1, counts: true, ...filters }, signal),
  );
  const years = listYears(months.value?.counts.month || {});
  const [picked, setPicked] = useState("");
  const chosen = picked || years[0]?.months[0].key;
  const request = { sort: "date", limit: PAGE, ...filters };
  const found = useLoaded(chosen ? `${chosen} ${JSON.stringify(request)}` : null, (signal) => {
    const bounds = { since: `${chosen}-01`, until: `${shiftMonth(chosen, 1)}-01` };
    return call("list", { ...request, ...bounds }, signal);
  });
  const list = found.isStale ? null : found.value;
  if (!chosen) {
    return months.value
      ? html`<p class="advice">No document is indexed yet.</p>`
      : html`<${Waiting} for=${months} label="counting" />`;
  }
  return html`<${Years} years=${years} chosen=${chosen} onChoose=${setPicked} />
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
