"""Rules learn of the files, anchors and notes around a document, with and without index."""

import unicodedata
from datetime import date
from pathlib import Path

import pytest

from kebab.app.review_files import read_anchors
from kebab.core.chunks import DocId
from kebab.core.documents import LinkTarget
from kebab.review.document import ReviewText
from kebab.review.rules import Surroundings, read_text


def _document(root: Path, path: str = "a.md") -> ReviewText:
    return ReviewText(
        doc_path=path,
        file=root / path,
        root=root,
        media="text/markdown",
        raw="",
        text="",
        content_hash="0",
    )


@pytest.fixture
def surroundings() -> Surroundings:
    return Surroundings(today=date(2026, 1, 1), read_anchors=read_anchors)


def _write(root: Path, path: str, text: str = "x\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_that_is_too_large_is_not_read_in_part(tmp_path):
    assert read_text(_write(tmp_path, "a.md", "x" * (4 * 2**20 + 1))) is None


def test_files_and_folders_exist_by_their_exact_name(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    file = _write(tmp_path, "sub/b.md")
    assert surroundings.exists(file)
    assert surroundings.exists(tmp_path / "sub")
    assert surroundings.exists(Path("/"))
    assert not surroundings.exists(tmp_path / "sub" / "B.md")
    assert not surroundings.exists(tmp_path / "none" / "b.md")
    assert not surroundings.exists(tmp_path / "x\0y" / "b.md")


def test_a_folder_is_listed_once(tmp_path: Path, surroundings: Surroundings) -> None:
    assert not surroundings.exists(tmp_path / "b.md")
    _write(tmp_path, "b.md")
    assert not surroundings.exists(tmp_path / "b.md")


def test_decomposed_names_are_the_same(tmp_path: Path, surroundings: Surroundings) -> None:
    _write(tmp_path, unicodedata.normalize("NFD", "계획.md"))
    assert surroundings.exists(tmp_path / "계획.md")


def test_anchors_are_those_of_markdown_files(tmp_path: Path, surroundings: Surroundings) -> None:
    file = _write(tmp_path, "b.md", "---\ntitle: x\n---\n# The Plan\n\n<a id='own-1'></a>\n")
    anchors = surroundings.list_anchors(file)
    assert anchors is not None
    assert {"theplan", "own1"} <= anchors
    assert surroundings.list_anchors(_write(tmp_path, "c.py")) is None
    assert surroundings.list_anchors(tmp_path / "none.md") is None
    assert surroundings.list_anchors(tmp_path) is None


@pytest.mark.parametrize("target", ["sub/c", "c", "C.md", "sub/c.md"])
def test_notes_are_found_by_path_and_name_without_an_index(
    tmp_path: Path, surroundings: Surroundings, target: str
) -> None:
    file = _write(tmp_path, "sub/c.md")
    assert surroundings.find_note(_document(tmp_path), target) == file
    assert surroundings.find_note(_document(tmp_path), "d") is None


def test_notes_are_found_by_title_and_alias_with_an_index(tmp_path: Path) -> None:
    file = _write(tmp_path, "c.md")
    indexed = LinkTarget(DocId("1"), "notes", "c.md", "The plan", ("Q3",))
    surroundings = Surroundings(today=date(2026, 1, 1), load_documents=lambda: [indexed])
    for target in ("the plan", "Q3", "c"):
        assert surroundings.find_note(_document(tmp_path), target) == file


def test_namesakes_are_found_in_any_case_but_not_in_hidden_folders(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    file = _write(tmp_path, "sub/C.md")
    _write(tmp_path, ".git/c.md")
    assert surroundings.list_namesakes(_document(tmp_path), "c.md") == [file]


def test_a_heading_is_found_when_one_document_has_it(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    _write(tmp_path, "a.md", "# The Costs\n\n## Usage\n")
    file = _write(tmp_path, "sub/b.md", "## Budget rules {#rules}\n\n## Usage\n")
    assert surroundings.find_heading(_document(tmp_path), "budgetrules") == file
    assert surroundings.find_heading(_document(tmp_path), "usage") is None
    assert surroundings.find_heading(_document(tmp_path), "none") is None
