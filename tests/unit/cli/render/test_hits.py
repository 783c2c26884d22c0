import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.hits import (
    fit_headings,
    fit_location,
    format_line_range,
    format_location,
    render_degraded,
)
from kebab.wire.citation import (
    CellCitation,
    CellSpan,
    CodeCitation,
    CodeSpan,
    PageCitation,
    PageSpan,
    SectionCitation,
    SectionSpan,
    SlideCitation,
    SlideSpan,
)
from kebab.wire.search import DegradedChannel
from tests.fakes import replies

CODE = CodeSpan(start=3, end=9, symbol="f", language="python")


@pytest.mark.parametrize(
    ("citation", "text"),
    [
        (replies.line_citation(), "ops/backup.md:12"),
        (
            PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9)),
            "a.pdf#page=3",
        ),
        (
            CellCitation(path="a.ipynb", uri="a.ipynb#cell=0", cell=CellSpan(index=0)),
            "a.ipynb#cell=0",
        ),
        (
            SlideCitation(path="a.pptx", uri="a.pptx#slide=2", slide=SlideSpan(number=2)),
            "a.pptx#slide=2",
        ),
        (
            SectionCitation(
                path="a b.docx", uri="a%20b.docx#T/%ED%95%9C", section=SectionSpan(title="한")
            ),
            "a b.docx#T/한",
        ),
        (CodeCitation(path="a.py", uri="", code=CODE), "a.py:3"),
    ],
)
def test_each_kind_of_citation_is_formatted(citation, text):
    assert format_location(citation) == text


@pytest.mark.parametrize(
    ("citation", "text"),
    [
        (replies.line_citation(start=12, end=14), "ops/backup.md:12-14"),
        (replies.line_citation(start=12, end=12), "ops/backup.md:12"),
        (CodeCitation(path="a.py", uri="", code=CODE), "a.py:3-9"),
        (
            SlideCitation(path="a.pptx", uri="a.pptx#slide=2", slide=SlideSpan(number=2)),
            "a.pptx#slide=2",
        ),
    ],
)
def test_a_line_range_has_its_last_line(citation, text):
    assert format_line_range(citation) == text


def test_a_long_path_keeps_its_file_name_and_its_line():
    citation = replies.line_citation(path="docs/concepts/storage/deep/volumes.md", start=7, end=9)

    assert fit_location(citation, Canvas(width=30)) == "docs/concepts/…/volumes.md:7"
    assert fit_location(citation, Canvas(width=30), 4, ranged=True) == "docs/…/volumes.md:7-9"
    assert fit_location(citation, Canvas()) == "docs/concepts/storage/deep/volumes.md:7"


def test_the_last_headings_stay_when_not_all_fit():
    path = ["Title", "a" * 20, "b" * 20, "the last"]

    assert fit_headings("Title", path, Canvas(width=30), 0) == "Title > … > the last"
    assert fit_headings("Title", path, Canvas(), 0) == " > ".join(path)


@pytest.mark.parametrize(
    ("channel", "note"),
    [("vector", "note: no vector search: slow"), ("rerank", "note: no reranking: slow")],
)
def test_a_channel_that_did_not_work_is_named(channel, note):
    degraded = DegradedChannel(channel=channel, reason="slow", hint=None)

    assert list(render_degraded(degraded, Canvas())) == [note]


def test_a_channel_that_was_searched_in_part_is_not_called_missing():
    waits = DegradedChannel(channel="vector", reason="6 wait", hint=None, partial=True)

    assert list(render_degraded(waits, Canvas())) == ["note: incomplete vector search: 6 wait"]
