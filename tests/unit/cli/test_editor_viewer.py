import pytest

from kebab.cli.editor import build_open_command
from kebab.wire.citation import PageCitation, PageSpan

FILE = "/n/my paper.pdf"
PAGE = PageCitation(path="my paper.pdf", uri="", page=PageSpan(number=3, of=9))


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
