/* The filters of a search: a menu for each, with counts, and a chip for each value that is set. */

import { html, useEffect, useRef, useState } from "./preact.js";
import { FILTERS, countFilters, dropFilters } from "./route.js";
import { formatNumber, lastPart, nameLanguage, nameType } from "./words.js";

const LABELS = { source: "Source", type: "Type", tag: "Tag", lang: "Language" };
const SEARCHABLE = 12; // a menu with more values has a field that searches them
const SHOWN = 200;

const NAMES = { source: lastPart, type: nameType, tag: (name) => name, lang: nameLanguage };

/** Return the values of each filter with their numbers of documents, from the base. */
export function listValues(schema, sources) {
  const sort = (rows) => rows.filter((row) => row.count).sort((one, two) => two.count - one.count);
  const rows = (counts) => Object.entries(counts || {}).map(([value, count]) => ({ value, count }));
  const stats = schema.stats;
  return {
    source: sort(sources.map((one) => ({ value: one.name, count: one.documents }))),
    type: sort(rows(stats.media_breakdown)),
    tag: sort(rows(stats.tag_breakdown)),
    lang: sort(rows(stats.lang_breakdown)).filter((row) => row.value !== "unknown"),
  };
}

function useClosing() {
  const element = useRef(null);
  useEffect(() => {
    const close = (event) => {
      const menu = element.current;
      if (!menu?.open) return;
      if (event.type === "keydown") {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        menu.querySelector("summary").focus();
      } else if (menu.contains(event.target)) return;
      menu.open = false;
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close, true);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("keydown", close, true);
    };
  }, []);
  return element;
}

function FilterMenu({ name, values, selected, onChange }) {
  const element = useClosing();
  const [text, setText] = useState("");
  const wanted = text.toLowerCase();
  const matching = values.filter((row) => NAMES[name](row.value).toLowerCase().includes(wanted));
  const toggle = (value) =>
    onChange(
      selected.includes(value) ? selected.filter((one) => one !== value) : [...selected, value],
    );
  return html`<details class="menu" ref=${element}>
    <summary>${LABELS[name]}</summary>
    <div class="panel">
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
                <span class="count">${formatNumber(row.count)}</span>
              </label>
            </li>`,
        )}
      </ul>
      ${matching.length > SHOWN && html`<p>${formatNumber(matching.length - SHOWN)} more</p>`}
      ${!matching.length && html`<p>none</p>`}
    </div>
  </details>`;
}

const AGES = { "7d": "last 7 days", "30d": "last 30 days", "365d": "last year" };

function DateMenu({ since, until, onChange }) {
  const element = useClosing();
  const set = (name) => (event) => onChange({ [name]: event.target.value });
  const dated = (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? value : "");
  return html`<details class="menu" ref=${element}>
    <summary>Date</summary>
    <div class="panel dates">
      ${Object.entries(AGES).map(
        ([age, label]) =>
          html`<button
            type="button"
            aria-pressed=${since === age && !until}
            onClick=${() => onChange({ since: since === age ? "" : age, until: "" })}
          >
            ${label}
          </button>`,
      )}
      <label>from <input type="date" value=${dated(since)} onChange=${set("since")} /></label>
      <label>before <input type="date" value=${dated(until)} onChange=${set("until")} /></label>
    </div>
  </details>`;
}

function Chip({ label, title, onRemove }) {
  return html`<li>
    <button type="button" class="chip" title=${title} onClick=${onRemove}>
      <bdi>${label}</bdi><span aria-hidden="true"> ×</span
      ><span class="sr">, remove this filter</span>
    </button>
  </li>`;
}

/** Show the menus of all filters, and the values that are set. */
export function Filters({ route, values, onChange }) {
  const chips = FILTERS.flatMap((name) =>
    route[name].map((value) => {
      const rest = route[name].filter((one) => one !== value);
      return html`<${Chip}
        key=${`${name}:${value}`}
        label=${NAMES[name](value)}
        title=${`${LABELS[name]}: ${value}`}
        onRemove=${() => onChange({ [name]: rest })}
      />`;
    }),
  );
  for (const name of ["since", "until"]) {
    if (!route[name]) continue;
    const label = AGES[route[name]] || `${name === "since" ? "from" : "before"} ${route[name]}`;
    chips.push(html`<${Chip} key=${name} label=${label} onRemove=${() => onChange({ [name]: "" })} />`);
  }
  const shown = FILTERS.filter((name) => values[name].length > 1 || route[name].length);
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
    ${chips.length > 0 &&
    html`<ul class="chips" aria-label="Filters that are set">
      ${chips}
      ${countFilters(route) > 1 &&
      html`<li>
        <button type="button" class="plain" onClick=${() => onChange(dropFilters(route))}>
          Clear all
        </button>
      </li>`}
    </ul>`}
  </div>`;
}
