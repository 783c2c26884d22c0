from types import SimpleNamespace
from typing import Any

import pytest

from kebab.core.chunks import DocId, Key
from kebab.core.media import detect_media_type
from kebab.core.queries import Filters, Mode, Query
from kebab.search.query_parser import parse_query
from kebab.search.reordering import is_bare, order_code
from tests.fakes.evidence import stored


def _order(query, *rows, spread=None, is_named=False):
    """Return the paths and symbols in their new order; each row is a path, a score and a symbol."""
    chunks, ranked = {}, []
    for number, (path, score, *rest) in enumerate(rows):
        symbol, text, context = (*rest, "", "", "")[:3]
        chunks[Key(number)] = stored(
            text,
            number,
            doc_id=DocId(path),
            heading_path=tuple(symbol.split(".")) if symbol else (),
            path=path,
            title=path,
            media=detect_media_type(path),
            context=context,
        )
        ranked.append((Key(number), score))
    passages: Any = SimpleNamespace(load_chunks=lambda keys: [chunks[key] for key in keys])
    parsed = parse_query(query, Filters())
    rarities = {term.text: 1.0 for term in parsed.terms}
    order = order_code(ranked, parsed, rarities, spread or {}, passages, is_named=is_named)
    assert [*order.values()] == [score for _, score in ranked][: len(order)]
    return [rows[key][0] + ("#" + rows[key][2] if rows[key][2:] else "") for key in order]


def test_notes_keep_their_order():
    assert _order("retry", ("a.md", 0.9), ("a.md", 0.8), ("tests/b.md", 0.7)) == []


def test_a_passage_that_the_penalty_put_behind_a_hundred_others_is_ordered():
    others = [(f"{number}.py", 0.5 - number / 1000) for number in range(150)]

    found = _order("close idle sockets", *others, ("a.py", 0.3), spread={Key(150): -0.4})

    assert found[0] == "a.py"


@pytest.mark.parametrize(
    "path",
    [
        *(
            "tests/pool.py",
            "src/test_pool.py",
            "src/tests.rs",
            "pool_test.go",
            "pool.spec.ts",
            "PoolTest.java",
        ),
        *("examples/pool.py", "vendor/pool.go", "pool_pb2.py", "pool.min.js"),
    ],
)
def test_tests_and_copies_come_later(path):
    code = [("a.py", 0.8), ("b.py", 0.8), ("c.py", 0.8)]

    assert _order("close idle sockets", (path, 0.9), *code)[-1] == path


@pytest.mark.parametrize("query", ["tests that close sockets", "an example of idle sockets"])
def test_a_query_for_tests_or_examples_finds_them(query):
    assert _order(query, ("tests/x.py", 0.9), ("a.py", 0.8))[0] == "tests/x.py"


CODE = [("a.py", 0.85), ("b.py", 0.84), ("c.py", 0.83)]


def test_documents_come_after_code_where_most_of_what_is_found_is_code():
    assert _order("close idle sockets", ("docs/sockets.md", 0.9), *CODE)[0] == "a.py"


def test_a_note_whose_name_the_query_is_stays_first_unless_a_symbol_has_the_name():
    note, code = ("Close sockets.md", 0.9), ("close_sockets.py", 0.85)
    symbol = ("a.py", 0.8, "close_sockets")

    assert _order("close sockets", note, code, is_named=True)[0] == "Close sockets.md"
    assert _order("close_sockets", note, symbol, is_named=True)[0] == "a.py#close_sockets"


def test_who_asks_how_to_use_it_finds_the_document():
    query = "how do I close idle connections"

    assert _order(query, ("docs/pool.md", 0.9), *CODE)[0] == "docs/pool.md"


def test_the_words_of_the_query_are_looked_for_in_the_path():
    rows = [("a.py", 0.9), ("net/sockets.py", 0.8)]

    assert _order("close idle sockets", *rows)[0] == "net/sockets.py"


@pytest.mark.parametrize(
    "row",
    [
        ("b.py", 0.6, "close_idle_sockets"),
        ("b.py", 0.6, "f", "IDLE_SOCKETS = 5"),
        ("b.h", 0.6, "", "#define IDLE_SOCKETS 5"),
        ("b.c", 0.6, "", "static const char *idle_sockets[2] = {"),
        ("b.ts", 0.6, "f", "  idleSock: number = 5;"),
        ("b.py", 0.6, "shutdown_unused_connection"),
    ],
)
def test_what_a_passage_defines_counts_by_its_name(row):
    assert _order("close idle sockets", ("a.py", 0.9, "g", "x == idle_sockets"), row)[0][0] == "b"


@pytest.mark.parametrize(
    ("symbol", "text"),
    [("tests.close_sockets", ""), ("test_close", ""), ("close", "#[test]"), ("", "# Licence: MIT")],
)
def test_tests_and_licences_inside_of_a_file_come_later(symbol, text):
    row = ("a.rs", 0.9, symbol, text)

    assert _order("close idle sockets", row, ("b.rs", 0.5, "f"))[0] == "b.rs#f"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Router", "a.py#Router"),
        ("router", "a.py#Router"),
        ("class Router", "a.py#Router"),
        ("Router.get", "a.py#Router.get"),
        ("LIMIT", "limits.py#"),
    ],
)
def test_the_definition_of_a_named_symbol_is_first(query, first):
    rows = [
        ("use.py", 0.9, "main"),
        ("tests/a.py", 0.9, "Router"),
        ("a.py", 0.4, "Router"),
        ("a.py", 0.4, "Router.get"),
        ("limits.py", 0.4, "", "LIMIT = 5"),
    ]

    assert _order(query, *rows)[0] == first


def test_the_middle_of_a_function_is_not_its_definition():
    rows = [("a.py", 0.9, "parse", "", "def parse(text):"), ("b.py", 0.5, "parse")]

    assert _order("parse", *rows)[0] == "b.py#parse"


def test_a_word_that_no_code_defines_is_no_name():
    rows = [("a.py", 0.9, "main"), ("auth/login.py", 0.85, "main")]

    assert _order("login", *rows)[0] == "auth/login.py#main"


def _search(base, text):
    hits = base.engine().search(Query(text=text, mode=Mode.LEXICAL)).hits
    return [hit.chunk.text for hit in hits]


@pytest.mark.parametrize(
    "bare",
    [
        "---\ntags: [theme]\nstatus: done\n---",
        "# Theme",
        "Theme\n=====",
        "[theme]: https://example.org/theme",
        "- [Theme](#theme)\n- [[Theme]]",
    ],
)
def test_a_bare_passage_stands_behind_text_with_the_same_words(base, bare):
    text = "Choose a theme with the menu, which decides about the colours of windows."
    base.add("a.md", bare, text)
    base.add("b.md", "nothing of this kind")

    assert _search(base, "theme") == [text, bare]


def test_a_bare_passage_with_words_of_its_own_stays_first(base):
    base.add("a.md", "---\nauthor: Vogelsang\n---", "text on ropes")
    base.add("b.md", "nothing of this kind")

    assert _search(base, "vogelsang ropes")[0] == "---\nauthor: Vogelsang\n---"


def test_text_with_links_is_not_bare(base):
    base.add("a.md", "See [the theme](theme.md) of the site.")

    (chunk,) = base.reader().load_chunks([1])
    assert not is_bare(chunk)


def test_the_section_about_a_name_comes_before_those_that_use_it(base):
    base.add("a.md", "The limit of maxAge.", heading=("`maxAge`",))
    base.add("b.md", "maxAge: default of maxAge", heading=("maxAgeStrict",))
    base.add("c.md", "nothing", "of this kind", "and of another")

    assert _search(base, "default of maxAge")[0] == "The limit of maxAge."
