from kebab.cli.commands.publish import render_publication
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_added_base, render_source_list
from tests.fakes import replies

PLAIN, WIDE = Canvas(width=None), Canvas(width=80)


def test_a_publication_says_what_is_in_it_and_what_was_sent():
    assert list(render_publication(replies.publish_report(), PLAIN)) == [
        "published to s3://bucket/base",
        "  3 documents, 7 passages, 7 vectors",
        "  2 passages new, 1 gone; 1.2 kB sent, a copy needs 12.3 kB",
    ]


def test_a_base_says_its_age_and_its_problem():
    base = replies.published_base(problem="cannot read x")
    text = "\n".join(render_source_list(replies.source_list(published=[base]), WIDE))

    assert text.splitlines()[1].endswith("published 2026-11-27 10:00")
    assert "cannot read x" in text
    remote = replies.source_list(published=[replies.published_base(mode="remote")])
    assert any(line.endswith(", remote") for line in render_source_list(remote, WIDE))
    (line,) = render_source_list(replies.source_list(published=[base]), PLAIN)
    assert line.split("\t")[:3] == ["docs", "https://docs.example.org/kb", "published"]


def test_an_added_base_leads_to_a_search():
    lines = list(render_added_base(replies.source_added(), PLAIN))

    assert lines[-1].endswith("kebab search QUERY --base docs")
