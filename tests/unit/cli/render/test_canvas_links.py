import os

import msgspec
import pytest

from kebab.cli.render.canvas import build_link
from kebab.config.settings import Output

FILE = "/a b/백업.md"
PATH = "/a%20b/%EB%B0%B1%EC%97%85.md"


@pytest.mark.parametrize(
    ("form", "link"),
    [
        ("default", f"file://{PATH}"),
        ("none", ""),
        ("kitty", f"file://{PATH}#12"),
        ("vscode", f"vscode://file{PATH}:12:1"),
        ("textmate", f"txmt://open?url=file://{PATH}&line=12&column=1"),
        ("editor://{path}?at={line}", f"editor://{PATH}?at=12"),
        ("file://{host}{path}", f"file://{os.uname().nodename}{PATH}"),
    ],
)
def test_each_format_has_its_address(form, link):
    assert build_link(FILE, 12, form) == link


@pytest.mark.parametrize("file", [None, "relative.md"])
def test_links_are_made_of_absolute_paths_only(file):
    assert build_link(file, 1, "default") == ""


def test_a_place_without_a_line_is_the_first_one():
    assert build_link("/a.pdf", None, "vscode") == "vscode://file/a.pdf:1:1"


def test_bytes_that_are_no_text_are_encoded():
    assert build_link("/bad\udcff", None, "default") == "file:///bad%FF"


@pytest.mark.parametrize("form", ["default", "none", "vscode", "my://{path}#{line}"])
def test_the_setting_takes_names_and_formats(form):
    assert msgspec.convert({"hyperlink_format": form}, Output).hyperlink_format == form


@pytest.mark.parametrize("form", ["", "nonsense", "file://{line}"])
def test_the_setting_refuses_other_texts(form):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"hyperlink_format": form}, Output)


@pytest.mark.parametrize(
    ("form", "link"),
    [("default", "file:///a.pdf#page=3"), ("file", "file:///a.pdf#page=3"), ("none", ""),
     ("vscode", "vscode://file/a.pdf:1:1"), ("kitty", "file:///a.pdf#1")],
)  # fmt: skip
def test_a_link_to_the_file_itself_names_the_page(form, link):
    assert build_link("/a.pdf", None, form, page=3) == link
