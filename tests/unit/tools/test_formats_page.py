from kebab.core.files import NAMED
from kebab.core.media import MEDIA_TYPES
from tools.formats_page import render_formats_page


def find_row(label):
    page = render_formats_page()
    line = next(line for line in page.split("\n") if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_has_files_citation_and_what_must_be_installed():
    assert find_row("PDF") == ["PDF", "`.pdf`", "page", "`kebab[pdf]`"]
    assert find_row("Go") == ["Go", "`.go`", "lines and symbol", "`kebab[code]`"]


def test_a_format_that_needs_nothing_says_so():
    assert find_row("Org")[-1] == "-"


def test_whole_names_of_files_stand_beside_suffixes():
    assert "`dockerfile`" in find_row("source code")[1]


def test_images_need_a_setting_and_a_program():
    assert find_row("image")[-1] == "`ingest.ocr` or `ingest.captions`, see [pictures](pictures.md)"


def test_every_format_is_in_the_page():
    page = render_formats_page()

    read = [media for media in MEDIA_TYPES if media.name not in NAMED.values()]
    assert [media.label for media in read if f"| {media.label} |" not in page] == []


def test_a_format_that_is_not_read_has_its_hint():
    assert find_row("OneNote section")[-1] == "export it as PDF or DOCX"


def test_no_file_is_read_and_not_read():
    read, unread = render_formats_page().split("## What kebab does not read")

    assert "`.png`" in read
    assert "`.png`" not in unread
    assert "`.gif`" in unread
