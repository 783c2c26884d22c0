import pytest

from kebab.wire.library import FetchChunkRequest, FetchDocRequest, FetchSpanRequest


def test_a_pipe_gets_the_lines_and_nothing_else(kebab):
    assert kebab("fetch", "chunk", "x").out == "before\nStop the writer,\nthen restore.\nafter\n"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["chunk", "x", "--context", "3"], FetchChunkRequest(name="x", context=3)),
        (["doc", "x", "--max-chars", "9"], FetchDocRequest(name="x", max_chars=9)),
        (["span", "x", "4"], FetchSpanRequest(name="x", start=4)),
        (
            ["span", "x", "4", "7", "--context", "1"],
            FetchSpanRequest(name="x", start=4, end=7, context=1),
        ),
    ],
)
def test_arguments_reach_the_library(kebab, opened, arguments, wanted):
    kebab("fetch", *arguments)

    assert opened[0].asked == [("fetch", wanted)]


@pytest.mark.parametrize(
    "arguments", [["chunk", "nowhere"], ["doc", "nowhere"], ["span", "nowhere", "1"]]
)
def test_an_unknown_name_is_a_reply(kebab, arguments):
    ran = kebab("fetch", *arguments, "--json")

    assert (ran.status, ran.err, ran.reply["schema_version"]) == (1, "", "not_found.v1")


@pytest.mark.parametrize("arguments", [["span", "x"], ["span", "x", "0"], ["span", "x", "one"]])
def test_lines_begin_at_one(kebab, arguments):
    assert kebab("fetch", *arguments).status == 2
