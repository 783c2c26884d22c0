"""With the detail `best` a page has the texts of the hits that may answer."""

import pytest

from kebab.core.chunks import DocId, Extent
from kebab.core.queries import Hit, Query, Snippet
from kebab.search.budget import (
    drop_weak_texts,
    estimate_hit_tokens,
    estimate_page_tokens,
    fit_budget,
    grow_texts,
)
from tests.fakes import evidence


def build_page(scores: str) -> list[Hit]:
    """Return hits of different documents, `s` strong and `w` weak."""
    return [
        evidence.hit(evidence.stored(f"Text {number}.", number), number, 0.9 if one == "s" else 0.1)
        for number, one in enumerate(scores, 1)
    ]


@pytest.mark.parametrize(
    ("scores", "with_text"),
    [
        ("ssss", "1111"),
        ("swwww", "11100"),
        ("sswww", "11110"),
        ("sssww", "11100"),
        ("wwww", "1110"),
    ],
)
def test_where_few_hits_are_better_than_weak_the_first_weak_ones_have_text(scores, with_text):
    shown = drop_weak_texts(build_page(scores))

    assert "".join(str(int(bool(hit.snippet.text))) for hit in shown) == with_text


def test_the_first_hit_of_each_query_has_text():
    *better, first, other = build_page("sssww")

    shown = drop_weak_texts([*better, first._replace(queries=(1,)), other])

    assert [bool(hit.snippet.text) for hit in shown] == [True] * 4 + [False]


def test_the_licence_above_code_has_no_text_unless_it_is_the_first_hit():
    hits = [
        evidence.hit(evidence.stored(text, at, media="text/x-c", heading_path=path), at, 0.9)
        for at, (text, path) in enumerate(
            [("f()", ("f",)), ("/* Copyright 2007 */", ()), ("warranty()", ("g",))], 1
        )
    ]

    assert [bool(hit.snippet.text) for hit in drop_weak_texts(hits)] == [True, False, True]
    assert drop_weak_texts(hits[1:2])[0].snippet.text


def test_a_weak_hit_that_does_not_fit_a_budget_is_kept_without_its_text():
    good, weak = build_page("sw")
    weak = weak._replace(snippet=Snippet("Much is said of other matters. " * 20))
    query = Query(text="x", detail="best")
    bare = weak._replace(snippet=Snippet(""))
    budget = estimate_page_tokens(query, good.chunk.source)
    budget += estimate_hit_tokens(good) + estimate_hit_tokens(bare)

    query = Query(text="x", detail="best", max_tokens=budget)

    assert fit_budget([good, weak], query, lambda _: {}) == ([good, bare], None)


@pytest.mark.parametrize(("score", "with_text"), [(0.9, "11110"), (0.5, "11111")])
def test_all_weak_code_has_text_unless_the_first_hit_is_strong(score, with_text):
    weak = Section(*"bcde", media="text/x-python").grow(*range(4), score=0.1)
    (first,) = Section("a").grow(0, score=score)

    shown = drop_weak_texts([first, weak[0]._replace(queries=(1,)), *weak[1:]])

    assert "".join(str(int(bool(hit.snippet.text))) for hit in shown) == with_text


class Section:
    """Passages of one file with their headings, four lines each, a blank line between two."""

    def __init__(self, *paths: str, gap: int = 2, media: str = "text/markdown") -> None:
        self.chunks = []
        for number, path in enumerate(paths):
            first = 1 + number * (3 + gap)
            lines = "\n".join(f"Line {first + offset} of {number}." for offset in range(4))
            chunk = evidence.stored(lines, number + 1, start_line=first, end_line=first + 3)
            self.chunks.append(
                chunk._replace(heading_path=(path,) if path else (), ordinal=number, media=media)
            )

    def list_extents(self, _key):
        """Return all passages."""
        return [Extent(c.key, c.start_line, c.end_line, c.heading_path) for c in self.chunks]

    def read(self, keys):
        """Return passages by their keys."""
        return [chunk for key in keys for chunk in self.chunks if chunk.key == key]

    def grow(self, *numbers, score=0.9, **query):
        """Return the hits of these passages after they have grown."""
        hits = [
            evidence.hit(self.chunks[number], rank, score)._replace(
                snippet=Snippet(self.chunks[number].text)
            )
            for rank, number in enumerate(numbers, 1)
        ]
        return self.show(*hits, **query)

    def show(self, *hits, **query):
        """Return hits after they have grown."""
        asked = Query(text="x", detail="best", **query)

        def find(names):
            return [one for one in self.chunks if any(name in one.text for name in names)]

        return grow_texts(hits, asked, self.list_extents, self.read, find, lambda _: {"line": 1.0})


def get_lines(hit):
    return hit.chunk.start_line, hit.chunk.end_line


def test_a_hit_grows_to_its_section_and_no_further():
    section = Section("A", "B", "B", "B", "C")
    (hit,) = section.grow(2)

    assert get_lines(hit) == (6, 19)
    assert hit.snippet.text == "\n\n".join(chunk.text for chunk in section.chunks[1:4])
    assert [hit.snippet.text[first:last] for first, last in hit.snippet.highlights] == ["Line"] * 12


@pytest.mark.parametrize(
    ("options", "query", "score"),
    [({"gap": 3}, {}, 0.9), ({"gap": 0}, {}, 0.9), ({}, {"max_tokens": 60}, 0.9), ({}, {}, 0.1)],
    ids=["apart", "one line", "no room", "weak"],
)
def test_a_hit_stays_as_it_is(options, query, score):
    section = Section("B", "B", **options)
    (hit,) = section.grow(0, score=score, **query)

    assert hit.chunk == section.chunks[0]


@pytest.mark.parametrize("score", [0.9, 0.1])
def test_a_hit_takes_in_the_later_ones_beside_it(score):
    first, second = Section("B", "B").grow(1, 0, score=score, max_tokens=60)

    assert get_lines(first) == (1, 9)
    assert second.snippet == Snippet("")


def test_no_line_is_shown_twice():
    hits = Section("A", "B", "C", media="text/x-python").grow(0, 1, 2)

    assert [get_lines(hit) for hit in hits] == [(1, 4), (6, 9), (11, 14)]


def test_a_passage_of_code_names_the_lines_of_its_symbol():
    section = Section("f", "g", "g", "h", media="text/x-python")
    (weak,) = section.grow(2, score=0.1)

    assert (get_lines(weak), weak.symbol) == ((11, 14), (6, 14))
    assert Section("", media="text/x-python").grow(0)[0].symbol is None


def test_a_passage_of_code_has_the_fields_of_the_class_around_it():
    section = Section("", "", media="text/x-python")
    outer, own = section.chunks
    field, shown = outer._replace(text="maxLines = 5"), own._replace(text="if maxLines:")
    contexts = []
    for around in (("A",), ("A", "f"), ("B",)):
        field = field._replace(heading_path=around, doc_id=own.doc_id)
        section.chunks[:] = [field, shown._replace(heading_path=("A", "f"))]
        contexts.append(section.grow(1, score=0.1)[0].chunk.context)

    assert contexts == ["1: maxLines = 5", "", ""]


@pytest.mark.parametrize("form", ["{} = 5", "#define {} 5", "# define {}\t(5 * 2)"])
def test_a_passage_of_code_has_the_constants_that_it_names_and_the_query_asks_for(form):
    section = Section("", "f", "g", media="text/x-python")
    outer, own, local = section.chunks
    wanted = form.format("MAX_LINES")
    values = [wanted, form.format("OTHER_LINES"), form.format("MAX_TEXTS"), "LINE_KINDS == 8"]
    section.chunks[0] = outer._replace(text="\n".join(values), doc_id=own.doc_id)
    section.chunks[1] = own._replace(text="MAX_LINES MAX_TEXTS LINE_KINDS LINE_ENDS lineCount")
    text = "int lineCount = 5\nLINE_ENDS = 2"
    section.chunks[2] = local._replace(text=text, doc_id=own.doc_id)
    (hit,) = section.grow(1, score=0.1)
    outer = section.chunks[0]._replace(doc_id=DocId("a"), path="limits.py", start_line=7)
    section.chunks[0] = outer
    (other,) = section.grow(1, score=0.1)
    section.chunks.append(outer._replace(text=f"{wanted}0", doc_id=DocId("b"), path="b.py"))
    assert "MAX_LINES" not in section.grow(1, score=0.1)[0].chunk.context
    assert hit.chunk.context == f"1: {wanted}\n12: LINE_ENDS = 2"
    assert other.chunk.context == f"limits.py:7: {wanted}\n12: LINE_ENDS = 2"
    assert hit.snippet.text == section.chunks[1].text
