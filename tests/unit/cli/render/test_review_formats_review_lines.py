import pytest

from kebab.app.review_text import ItemLocator
from kebab.cli.render.review_formats import render_github, render_positions, render_vimgrep
from tests.fakes.review_pages import item, page, reviewed

TEXT = "one\n👩 worng\n"


@pytest.fixture
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a, 100%: b.md"
    file.write_text(TEXT, encoding="utf-8")
    return reviewed(file)


def render(form, document, **changes):
    found = page(document, item(document, 6, 11, **changes))
    (line,) = form(found, ItemLocator().locate(found))
    return line


def test_each_form_has_its_own_columns(document):
    assert render(render_positions, document).startswith("a, 100%: b.md:2:3: error: ")
    assert render(render_vimgrep, document).startswith("a, 100%: b.md:2:6: error: ")
    assert ",col=4,endColumn=9," in render(render_github, document)


def test_annotations_escape_what_has_a_meaning(document):
    line = render(render_github, document, reason="100% wrong: a, b")

    assert line.startswith("::error file=a%2C 100%25%3A b.md,line=2,")
    assert line.endswith("::100%25 wrong: a, b")


@pytest.mark.parametrize(
    ("severity", "command"), [("error", "error"), ("warning", "warning"), ("suggestion", "notice")]
)
def test_annotations_have_a_level(document, severity, command):
    assert render(render_github, document, severity=severity).startswith(f"::{command} ")


def test_an_annotation_of_several_lines_has_no_columns(document):
    found = page(document, item(document, 0, 6))
    (line,) = render_github(found, ItemLocator().locate(found))

    assert "line=1,endLine=2,title=" in line


def test_a_changed_file_is_annotated_as_a_whole(document, tmp_path):
    found = page(document, item(document, 6, 11))
    (tmp_path / "a, 100%: b.md").write_text("other", encoding="utf-8")
    (line,) = render_github(found, ItemLocator().locate(found))

    assert "line=" not in line
