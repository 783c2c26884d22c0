import sys

import pytest

from kebab.cli.editor import build_open_command
from kebab.errors.catalog import DependencyMissing
from kebab.wire.citation import PageCitation, PageSpan, SectionCitation, SectionSpan
from tests.fakes import replies

FILE = "/n/my paper.pdf"
PAGE = PageCitation(path="my paper.pdf", uri="", page=PageSpan(number=3, of=9))
SECTION = SectionCitation(path="a.docx", uri="", section=SectionSpan(title="T"))


@pytest.mark.parametrize(
    ("viewer", "command"),
    [
        ("zathura", ["zathura", "-P", "3", FILE]),
        ("/usr/bin/okular --unique", ["/usr/bin/okular", "--unique", "-p", "3", FILE]),
        ("evince", ["evince", "-i", "3", FILE]),
        ("mupdf", ["mupdf", FILE, "3"]),
        ("xpdf", ["xpdf", FILE, "3"]),
        ("SumatraPDF.exe", ["SumatraPDF.exe", "-page", "3", FILE]),
        ("qpdfview", ["qpdfview", f"{FILE}#3"]),
        ("firefox", ["firefox", "file:///n/my%20paper.pdf#page=3"]),
        ("Skim", ["open", "skim:///n/my%20paper.pdf#page=3"]),
        ("unheard-of", ["unheard-of", FILE]),
    ],
)
def test_each_viewer_gets_the_page_in_its_own_form(viewer, command):
    environ = {"PDFVIEWER": viewer, "EDITOR": "vim"}

    assert build_open_command(FILE, PAGE, 1, environ) == command


def test_text_goes_to_the_editor():
    environ = {"PDFVIEWER": "zathura", "EDITOR": "vim"}

    assert build_open_command("/n/a.md", replies.line_citation(), 7, environ)[1] == "+7"


@pytest.mark.parametrize(("citation", "viewer"), [(PAGE, " "), (SECTION, "zathura")])
def test_any_other_file_goes_to_the_system_and_not_to_an_editor(
    citation, viewer, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "xdg-open").touch(mode=0o755)
    environ = {"PATH": str(tmp_path), "EDITOR": "vim", "PDFVIEWER": viewer}

    assert build_open_command(FILE, citation, 1, environ) == ["xdg-open", FILE]


def test_without_any_program_the_remedy_is_named(tmp_path):
    with pytest.raises(DependencyMissing) as caught:
        build_open_command(FILE, PAGE, 1, {"PATH": str(tmp_path), "EDITOR": "vim"})

    assert caught.value.install == "export PDFVIEWER=zathura"
