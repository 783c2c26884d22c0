/* The words of the page. Statements about coverage are those of `kebab/wire/coverage.py`. */

const TYPES = JSON.parse(document.body.dataset.types);

export const formatNumber = (value) => value.toLocaleString("en");

/** Return `1 file` or `2 files`. */
export const pluralize = (count, noun) =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

const verb = (count) => (count === 1 ? "is" : "are");

function nameSome(names, more = 0) {
  const shown = names.slice(0, 2).map((name) => `“${name}”`);
  const rest = more + names.length - shown.length;
  if (rest > 0) shown.push(`${formatNumber(rest)} more`);
  const last = shown.pop() || "";
  return shown.length ? `${shown.join(", ")} and ${last}` : last;
}

/** Return the progress of an ingest that another process runs. */
const describeIndexing = ({ done, total, unit }) =>
  done === null || total === null
    ? "scanning folders"
    : `${formatNumber(done)} of ${formatNumber(total)} ${unit}`;

/**
 * Return what keeps a statement from being made; empty when the index covers it.
 *
 * `statement` is `absent` (a word occurs nowhere), `convincing` (nothing better exists) or
 * `healthy`.
 */
export function describeGaps(coverage, statement, byWords = false) {
  if (!coverage || coverage.complete) return "";
  const gaps = [];
  const add = (isTrue, text) => isTrue && gaps.push(text);
  const whole = pluralize(coverage.files, "file");
  const known = coverage.files - coverage.unread - coverage.failed;
  const unchecked = Math.max(0, known - coverage.checked);
  if (coverage.indexing) gaps.push(`an ingest is running: ${describeIndexing(coverage.indexing)}`);
  add(coverage.unlisted.length, `not all files of ${nameSome(coverage.unlisted)} are known`);
  const unread = coverage.unread;
  add(unread, `${formatNumber(unread)} of ${whole} ${verb(unread)} not read yet`);
  add(coverage.new, `${pluralize(coverage.new, "new file")} ${verb(coverage.new)} not read yet`);
  add(coverage.failed, `${pluralize(coverage.failed, "file")} could not be read`);
  add(coverage.changed, `${pluralize(coverage.changed, "file")} changed since the last scan`);
  const gone = statement === "healthy" && coverage.gone;
  add(gone, `${pluralize(coverage.gone, "file")} ${verb(coverage.gone)} gone`);
  add(unchecked, `${formatNumber(unchecked)} of ${whole} were not compared with the disk`);
  const folders = coverage.unchecked_folders;
  add(folders, `${pluralize(folders, "folder")} not looked at for new files`);
  const pending = statement === "convincing" && !byWords && coverage.pending_vectors;
  add(pending, `${pluralize(coverage.pending_vectors, "passage")} without a vector`);
  if (coverage.partial && statement !== "healthy") {
    const more = coverage.partial - coverage.partial_examples.length;
    const names = nameSome(coverage.partial_examples, more);
    gaps.push(`perhaps in the part of ${names} that is not searched`);
  }
  if (!gaps.length && !coverage.files && !coverage.gone) gaps.push("no folder is known");
  return gaps.join("; ");
}

/** Return which files are known to be missing or outdated, for a page with results. */
export function describeKnownGaps(coverage) {
  if (!coverage || coverage.complete) return "";
  const known = { checked: coverage.files, unchecked_folders: 0, partial: 0, pending_vectors: 0 };
  return describeGaps({ ...coverage, ...known }, "healthy", true);
}

/** Return which words of a query occur nowhere, or what else may hold them. */
export function describeAbsentTerms(reply) {
  const words = reply.absent_terms.join(", ");
  const gaps = describeGaps(reply.coverage, "absent");
  if (gaps) return `not in the files that are read: ${words} (${gaps})`;
  const filtered = Object.keys(reply.query_parsed.filters).length;
  return `not in ${filtered ? "what was searched" : "your notes"}: ${words}`;
}

/** Return a statement of absence, or what is missing before it can be made. */
export function describeNoAnswer(reply, statement) {
  const gaps = describeGaps(reply.coverage, "convincing", reply.mode === "lexical");
  if (reply.absent_terms.length && describeGaps(reply.coverage, "absent")) {
    return `${statement} so far`;
  }
  return gaps ? `${statement} so far (${gaps})` : statement;
}

const CHANNELS = { lexical: "search by words", vector: "search by meaning", rerank: "reranking" };

/** Return which channel did not work. */
export const describeDegraded = ({ channel, partial, reason }) =>
  `${partial ? "incomplete" : "no"} ${CHANNELS[channel] || channel}: ${reason}`;

export const CONFIDENCE = {
  strong: "strong: very likely about what you asked",
  fair: "fair: probably about what you asked",
  weak: "weak: likely on another matter",
};

export const FRESHNESS = { changed: "changed since", gone: "file is gone" };

/** Return a citation as `path:12-14`, or as `path#page=3` and the like. */
export function formatPlace(citation) {
  const span = citation.line || citation.code;
  if (span) {
    const end = span.end > span.start ? `-${span.end}` : "";
    return `${citation.path}:${span.start}${end}`;
  }
  const [, fragment = ""] = citation.uri.split(/#(.*)/s);
  return fragment ? `${citation.path}#${decode(fragment)}` : citation.path;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Return a media type as a person calls it. */
export const nameType = (media) => TYPES[media] || media.split(";")[0];

const languages = new Intl.DisplayNames("en", { type: "language", fallback: "code" });

/** Return the English name of a language code. */
export function nameLanguage(code) {
  if (!code || code === "unknown") return "unknown";
  try {
    return languages.of(code);
  } catch {
    return code;
  }
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const month = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });

/** Return a date such as `12 Oct 2025`; a date without a day stays as it is. */
export function formatDate(text) {
  const date = new Date(text);
  return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(date.valueOf()) ? day.format(date) : text;
}

const monthAlone = new Intl.DateTimeFormat("en-GB", { month: "long" });

/** Return the name of a month without its year. */
export const nameMonth = (key) => monthAlone.format(new Date(`${key}-01T12:00:00Z`));
export const formatMonth = (key) => month.format(new Date(`${key}-01T12:00:00Z`));

/** Return the last part of a path, or a name without a path as it is. */
export const lastPart = (path) => path.replace(/\/+$/, "").split("/").pop() || path;

export const formatMegabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Return a duration as `12 s` or `3 min`. */
export const formatSeconds = (seconds) =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
