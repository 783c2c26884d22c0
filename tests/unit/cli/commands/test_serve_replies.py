"""Replies are rendered for the model behind a client."""

import pytest

from kebab.cli.commands.serve import render_for_model
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.compact import render_compact
from kebab.wire.fetch import FetchList
from kebab.wire.search import LeftOut, UnmatchedFilter
from tests.fakes import replies


def test_a_search_is_the_compact_form():
    reply = replies.response(replies.hit())

    assert render_for_model(reply).split("\n") == [
        line.rstrip() for line in render_compact(reply, Canvas())
    ]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            replies.response(replies.hit(), left_out=LeftOut(hits=2, tokens=300)),
            "left out by max_tokens: 2 hits, about 300 tokens",
        ),
        (
            replies.response(
                unmatched_filters=[
                    UnmatchedFilter(filter="path_glob", value="x/**", nearest=[], documents=0)
                ],
                hint="kebab search x --path '**'",
            ),
            "no document passes `path 'x/**'`",
        ),
        (
            replies.grep_response(replies.grep_hit(), has_more=True),
            "further lines match; raise `limit`",
        ),
        (
            replies.ingest_report(items=[replies.item(warnings=["odd"])]),
            "with warnings: ops/backup.md",
        ),
    ],
    ids=["budget", "filter", "limit", "warnings"],
)
def test_a_flag_has_the_name_of_the_argument(reply, said):
    text = render_for_model(reply)

    assert said in text
    assert " --" not in text


def test_each_fetched_text_stands_below_its_reference():
    cut = replies.fetch_result(truncated=True, rest="a.md#L5", freshness="changed")
    missing = replies.not_found("nowhere.md", "somewhere.md")
    reply = FetchList(results=[cut, missing], missing=1, truncated=True)

    text = render_for_model(reply)

    assert text.startswith(f"==> {cut.citation.uri} <== lines {cut.start_line} to {cut.end_line}")
    assert "changed since" in text
    assert "the rest: a.md#L5" in text
    assert "somewhere.md" in text
