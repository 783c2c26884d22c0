from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_not_found
from tests.fakes import replies


def test_an_unknown_name_is_reported_in_one_line():
    assert list(render_not_found(replies.not_found("x"), Canvas())) == ["no document named x"]


def test_an_ambiguous_name_lists_its_candidates():
    lines = list(render_not_found(replies.not_found("x", "xa", "xb"), Canvas()))

    assert lines[1:] == ["which of these?", "  xa", "  xb"]
