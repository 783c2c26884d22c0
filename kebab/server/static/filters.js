/* The filters of a search: a menu for each, with counts, and a chip for each value that is set. */

import { call } from "./api.js";
import { html, useState } from "./preact.js";
import { FILTERS, buildFilters, countFilters, dropFilters, isSingle } from "./route.js";
import { formatNumber, lastPart, nameLanguage, nameType } from "./words.js";

const LABELS = {
  source: "Source",
  folder: "Folder",
  type: "Type",
  tag: "Tag",
  property: "Property",
  lang: "Language",
};
const SEARCHABLE = 12; // a menu with more values has a field that searches them
const SHOWN = 200;

const AGES = { "7d": "last 7 days", "30d": "last 30 days", "365d": "last year" };
const NAMES = {
  source: lastPart,
  folder: (name) => name,
  property: (text) => text.replace("=", ": "),
  type: nameType,
  tag: (name) => name,
  lang: nameLanguage,
  since: (date) => AGES[date] || `from ${date}`,
  until: (date) => `before ${date}`,
};

/** Return the values of each filter with their numbers of documents that the others leave. */
export async function loadValues(route, signal) {
  const request = { limit: 1, counts: true, ...buildFilters(route) };
  const { counts } = await call("list", request, signal);
  const rows = Object.keys(LABELS).map((name) => {
    const found = Object.entries(counts[{ type: "media", folder: "path_glob" }[name] || name] || {});
    const values = found.map(([value, count]) => ({ value, count }));
    const chosen = route[name].filter((value) => !found.some(([known]) => known === value));
    return [name, [...values, ...chosen.map((value) => ({ value, count: null }))]];
  });
  return Object.fromEntries(rows);
}

/** Show a menu, which Esc closes, and the focus when it leaves. */
function Menu({ label, children }) {
  const leave = ({ currentTarget, relatedTarget }) => {
    if (!currentTarget.contains(relatedTarget)) currentTarget.open = false;
  };
  const escape = (event) => {
    const menu = event.currentTarget;
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.firstElementChild.focus();
    menu.open = false;
  };
  return html`<details class="menu" name="menu" onFocusOut=${leave} onKeyDown=${escape}>
    <summary>${label}</summary>
    <div class="panel" tabindex="-1">${children}</div>
  </details>`;
}

function FilterMenu({ name, values, selected, onChange }) {
  const [text, setText] = useState("");
  const wanted = text.toLowerCase();
  const matching = values.filter((row) => NAMES[name](row.value).toLowerCase().includes(wanted));
  const toggle = (value) => {
    const others = selected.filter((one) => one !== value);
    const kept = isSingle(name) ? [] : others;
    onChange(others.length < selected.length ? others : [...kept, value]);
  };
  return html`<${Menu} label=${LABELS[name]}>
    ${values.length > SEARCHABLE &&
    html`<input
      type="search"
      aria-label=${`Find a ${LABELS[name].toLowerCase()}`}
      placeholder="Find"
      value=${text}
      onInput=${(event) => setText(event.target.value)}
    />`}
    <ul>
      ${matching.slice(0, SHOWN).map(
        (row) =>
          html`<li key=${row.value}>
            <label>
              <input
                type="checkbox"
                checked=${selected.includes(row.value)}
                onChange=${() => toggle(row.value)}
              />
              <bdi title=${row.value}>${NAMES[name](row.value)}</bdi>
              <span class="count">${row.count === null ? "" : formatNumber(row.count)}</span>
            </label>
          </li>`,
      )}
    </ul>
    ${matching.length > SHOWN && html`<p>${formatNumber(matching.length - SHOWN)} more</p>`}
    ${!matching.length && html`<p>none</p>`}
  <//>`;
}

function DateMenu({ since, until, onChange }) {
  const toggle = (age) => onChange({ since: since.includes(age) ? [] : [age], until: [] });
  const dated = ([value]) => (/^\d{4}-\d\d-\d\d$/.test(value) ? value : "");
  const set = (name) => (event) => onChange({ [name]: [event.target.value].filter(Boolean) });
  return html`<${Menu} label="Date">
    ${Object.entries(AGES).map(
      ([age, label]) =>
        html`<button type="button" aria-pressed=${since.includes(age)} onClick=${() => toggle(age)}>
          ${label}
        </button>`,
    )}
    <label>from <input type="date" value=${dated(since)} onChange=${set("since")} /></label>
    <label>before <input type="date" value=${dated(until)} onChange=${set("until")} /></label>
  <//>`;
}

/** Show the menus of all filters, and the values that are set. */
export function Filters({ route, values, onChange }) {
  const set = FILTERS.flatMap((name) =>
    route[name].map((value) => ({
      label: NAMES[name](value),
      title: `${LABELS[name] || "Date"}: ${value}`,
      left: { [name]: route[name].filter((one) => one !== value) },
    })),
  );
  const least = (name) => (name === "source" && !route.source.length ? 2 : 1);
  const shown = Object.keys(LABELS).filter((name) => values[name].length >= least(name));
  return html`<div class="filters" role="group" aria-label="Filters">
    ${shown.map(
      (name) =>
        html`<${FilterMenu}
          key=${name}
          name=${name}
          values=${values[name]}
          selected=${route[name]}
          onChange=${(selected) => onChange({ [name]: selected })}
        />`,
    )}
    <${DateMenu} since=${route.since} until=${route.until} onChange=${onChange} />
    ${set.length > 0 &&
    html`<ul class="chips" aria-label="Filters that are set">
      ${set.map(
        ({ label, title, left }) =>
          html`<li key=${label}>
            <button type="button" class="chip" title=${title} onClick=${() => onChange(left)}>
              <bdi>${label}</bdi><span aria-hidden="true"> ×</span
              ><span class="sr">, remove this filter</span>
            </button>
          </li>`,
      )}
      ${countFilters(route) > 1 &&
      html`<li>
        <button type="button" class="plain" onClick=${() => onChange(dropFilters(route))}>
          Clear all
        </button>
      </li>`}
    </ul>`}
  </div>`;
}
