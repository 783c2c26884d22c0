/* The state that the address of the page holds: the view, the query, its filters, the document. */

export const FILTERS = [
  "source", "folder", "type", "tag", "property", "lang", "since", "until",
];
const FIELDS = { type: "media", folder: "path_glob" }; // of a request, where the name differs
const SINGLE = new Set(["folder", "since", "until"]);
const TEXTS = ["q", "doc", "at"];
export const VIEWS = {
  search: "Search",
  ask: "Ask",
  timeline: "Timeline",
  graph: "Links",
  status: "Status",
};

/** Return the state of an address. `quote` is only in the history, because it can be long. */
export function parseRoute(address, state = null) {
  const fields = new URL(address, location.href).searchParams;
  const route = { view: fields.get("view") || "search", quote: state?.quote || "" };
  if (!Object.hasOwn(VIEWS, route.view)) route.view = "search";
  for (const name of TEXTS) route[name] = fields.get(name) || "";
  for (const name of FILTERS) route[name] = fields.getAll(name).filter(Boolean);
  return route;
}

/** Return the address of a state. */
export function formatRoute(route) {
  const fields = new URLSearchParams();
  if (route.view !== "search") fields.set("view", route.view);
  for (const name of TEXTS) if (route[name]) fields.set(name, route[name]);
  for (const name of FILTERS) for (const value of route[name] || []) fields.append(name, value);
  const text = fields.toString();
  return text ? `/?${text}` : "/";
}

/** Return the filters of a state as fields of a request. */
export function buildFilters(route) {
  const fields = {};
  for (const name of FILTERS.filter((one) => route[one].length)) {
    fields[FIELDS[name] || name] = SINGLE.has(name) ? route[name][0] : route[name];
  }
  if (/[[*?{]/.test(fields.path_glob)) {
    fields.path_glob = `${fields.path_glob.replace(/[[*?{]/g, "[$&]")}/**`;
  }
  return fields;
}

/** Return whether one value of a filter replaces another. */
export const isSingle = (name) => SINGLE.has(name);

/** Return the number of filters that are set. */
export const countFilters = (route) => FILTERS.reduce((sum, name) => sum + route[name].length, 0);

/** Return a state without filters. */
export const dropFilters = (route) => ({
  ...route,
  ...Object.fromEntries(FILTERS.map((name) => [name, []])),
});
