"""The pages that the server writes: search with its hits, an error, and how to get in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from kebab import __version__
from kebab.search.citations import find_fragment
from kebab.web.markup import Html, build_tag, clean_line, join
from kebab.wire.coverage import describe_absent_words, describe_gaps, describe_known_gaps
from kebab.wire.error import ErrorReply
from kebab.wire.search import ActiveFilters, SearchHit, SearchResponse

FILTERS = ("source", "type", "tag", "lang", "since", "until")
_CHANNELS = {"lexical": "search by words", "vector": "search by meaning", "rerank": "reranking"}
_LABELS = {
    "source": "Source",
    "type": "Type",
    "tag": "Tag",
    "lang": "Language",
    "since": "Since",
    "until": "Until",
}


class Shell(NamedTuple):
    """What every page has.

    `assets` are the addresses of the files by name, and `modules` those that the script imports.
    `can_open` says whether files may be opened in an editor.
    """

    assets: Mapping[str, str]
    modules: Sequence[str] = ()
    allow_write: bool = False
    can_open: bool = False


def build_page(shell: Shell, title: str, body: Sequence[Html], *, has_script: bool = True) -> bytes:
    """Return a whole HTML document."""
    head = [
        build_tag("meta", charset="utf-8"),
        build_tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        build_tag("meta", name="color-scheme", content="light dark"),
        build_tag("title", clean_line(title)),
    ]
    if "app.css" in shell.assets:
        head.append(build_tag("link", rel="stylesheet", href=shell.assets["app.css"]))
    icon = next((name for name in shell.assets if name.startswith("icon")), None)
    if icon:
        kind = "image/svg+xml" if icon.endswith(".svg") else None
        head.append(build_tag("link", rel="icon", type=kind, href=shell.assets[icon]))
    if has_script and "app.js" in shell.assets:
        head += [
            build_tag("link", rel="modulepreload", href=shell.assets[name])
            for name in shell.modules
        ]
        head.append(build_tag("script", type="module", src=shell.assets["app.js"]))
    page = build_tag(
        "html",
        build_tag("head", *head),
        build_tag(
            "body",
            *body,
            data_kebab_version=__version__,
            data_allow_write=str(shell.allow_write).lower(),
            data_can_open=str(shell.can_open).lower(),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n".encode()


def build_bar(fields: Mapping[str, Sequence[str]]) -> Html:
    """Return the head of the page: a way past it, and a form that searches without scripts."""
    query = "".join(fields.get("q", ()))
    filters = [
        build_tag(
            "label",
            f"{_LABELS[name]} ",
            build_tag("input", name=name, value=", ".join(fields.get(name, ())), size=12),
        )
        for name in FILTERS
    ]
    form = build_tag(
        "form",
        build_tag(
            "input",
            type="search",
            id="q",
            name="q",
            value=query,
            autocomplete="off",
            spellcheck="false",
            dir="auto",
            aria_label="Search your notes",
        ),
        build_tag("button", "Search", type="submit"),
        build_tag(
            "details",
            build_tag("summary", "Filters"),
            *filters,
            class_="filters",
            open=any(fields.get(name) for name in FILTERS),
        ),
        action="/",
        method="get",
        role="search",
    )
    skip = build_tag("a", "Skip to the results", class_="skip", href="#results")
    home = build_tag("a", "kebab", href="/", class_="brand")
    return join((skip, build_tag("header", home, form, id="bar")))


def build_main(results: Html, reader: Html) -> Html:
    """Return the list of hits and the reader."""
    title = build_tag("h1", "Search your notes", class_="sr")
    return build_tag(
        "main",
        build_tag("section", title, results, id="results", aria_label="Results"),
        build_tag("article", reader, id="reader"),
        id="app",
        class_="reading" if reader else None,
    )


def build_results(reply: SearchResponse, fields: Mapping[str, Sequence[str]]) -> Html:
    """Return the hits of a search, with what is to be said about them."""
    notes = [build_tag("p", note, class_="note") for note in _describe_search(reply)]
    hits = [_build_hit(hit, fields) for hit in reply.hits]
    listed = build_tag("ol", *hits, class_="hits") if hits else Html()
    return join((*notes, listed))


def _describe_search(reply: SearchResponse) -> Iterator[str]:
    """Yield notes on a search in the words of the terminal."""
    is_weak = bool(reply.hits) and all(hit.confidence == "weak" for hit in reply.hits)
    if not reply.hits or is_weak:
        statement = "nothing convincing" if reply.hits else "no results"
        gaps = describe_gaps(reply.coverage, "convincing", by_words=reply.mode == "lexical")
        yield f"{statement} so far ({gaps})" if gaps else f"{statement} for: {reply.query}"
    if reply.absent_terms and not reply.unmatched_filters:
        filtered = reply.query_parsed.filters != ActiveFilters()
        where = "what was searched" if filtered else "your notes"
        yield describe_absent_words(", ".join(reply.absent_terms), reply.coverage, where)
    for one in reply.unmatched_filters:
        yield f"no document passes {one.filter}: {one.value}"
    for channel in reply.degraded:
        extent = "incomplete" if channel.partial is True else "no"
        lost = f"{extent} {_CHANNELS.get(channel.channel, channel.channel)}"
        yield f"{'published base' if channel.channel == 'published' else lost}: {channel.reason}"
    if reply.hits and not is_weak and (gaps := describe_known_gaps(reply.coverage)):
        yield gaps


def _build_hit(hit: SearchHit, fields: Mapping[str, Sequence[str]]) -> Html:
    query = {**{name: list(values) for name, values in fields.items() if name != "from"}}
    query |= {"doc": [hit.doc_id], "at": [hit.chunk_id]}
    title = build_tag("bdi", clean_line(hit.title))
    headings = hit.heading_path[1:] if hit.heading_path[:1] == [hit.title] else hit.heading_path
    fragment = find_fragment(hit.citation.uri)
    state = {"changed": " (changed since)", "gone": " (file is gone)"}.get(hit.freshness, "")
    return build_tag(
        "li",
        build_tag("a", title, href=f"/?{urlencode(query, doseq=True)}#passage", class_="title"),
        " ",
        build_tag("span", hit.confidence, class_=f"confidence {hit.confidence}"),
        build_tag("p", " › ".join(map(clean_line, headings)), class_="headings")
        if headings
        else "",
        build_tag("p", _highlight(hit.snippet, hit.highlights), class_="snippet", dir="auto"),
        build_tag(
            "p", build_tag("bdi", clean_line(hit.doc_path + fragment) + state), class_="place"
        ),
        data_media=hit.media,
    )


def _highlight(text: str, ranges: Sequence[tuple[int, int]]) -> Html:
    """Return a snippet with its matches marked."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(ranges):
        if start >= done:
            parts += [text[done:start], build_tag("mark", text[start:end])]
            done = end
    return join([*parts, text[done:]])


def build_error(shell: Shell, error: ErrorReply) -> bytes:
    """Return a page with the words of an error."""
    body = build_tag(
        "main",
        build_tag("h1", "Error"),
        build_tag("p", error.message),
        build_tag("p", "hint: ", error.hint) if error.hint else "",
        build_tag("p", "code: ", build_tag("code", error.code)),
        build_tag("p", build_tag("a", "Search", href="/")),
        class_="message",
    )
    return build_page(shell, "Error · kebab", [body], has_script=False)


def build_entrance(shell: Shell, cause: str = "") -> bytes:
    """Return the page for a browser that is not let in."""
    body = build_tag(
        "main",
        build_tag("h1", "kebab"),
        build_tag("p", cause) if cause else "",
        build_tag(
            "p", "This browser is not signed in. Run this command on the machine of the server:"
        ),
        build_tag("pre", build_tag("code", "kebab open --web")),
        build_tag("p", "It opens this page with a link that counts once, for two minutes."),
        build_tag("p", build_tag("a", "Try again", href="/")),
        class_="message",
    )
    return build_page(shell, "kebab", [body], has_script=False)
