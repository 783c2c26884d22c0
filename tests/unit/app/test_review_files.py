"""Tests what is read about the files of a folder."""

from pathlib import Path

import pytest

from kebab.app.review_files import is_built, name_fault, read_faults, read_jumps, read_keys


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("name", "is_known"), [("docs/api.md", True), ("docs/other.md", False)])
def test_git_tells_what_a_build_writes(tmp_path: Path, name: str, is_known: bool) -> None:  # noqa: FBT001
    _write(tmp_path / ".gitignore", "/docs/api.md\n")

    assert is_built(f"{tmp_path}/{name}") is is_known


@pytest.mark.parametrize(("name", "is_known"), [("api/all.md", True), ("docs/all.md", False)])
def test_a_file_that_a_build_names_is_built(tmp_path: Path, name: str, is_known: bool) -> None:  # noqa: FBT001
    _write(tmp_path / "Makefile", "docs/api/all.md: ; cat api/*.md > $@\n")

    assert is_built(f"{tmp_path}/docs/{name}") is is_known


def test_images_that_a_generator_copies_are_built(tmp_path: Path) -> None:
    _write(tmp_path / "docs" / "x.toml", 'content_images = ["images/a.png"]\n')

    assert is_built(f"{tmp_path}/docs/a.png")
    assert not is_built(f"{tmp_path}/docs/b.png")


def test_jumps_are_read_outside_of_code(tmp_path: Path) -> None:
    _write(tmp_path / "a.md", "# A\n\n### B\n")
    _write(tmp_path / "b.md", "# A\n\n```\n### B\n```\n\n## C\n")
    _write(tmp_path / "c.md", "no heading\n")

    assert read_jumps(tmp_path, ["a.md", "b.md", "c.md", "d.py"]) == {
        f"{tmp_path}/a.md": frozenset({(1, 3)}),
        f"{tmp_path}/b.md": frozenset(),
    }


def test_faults_of_front_matter_are_read_without_their_places(tmp_path: Path) -> None:
    for name, title in (("a.md", "one: two"), ("b.md", "one")):
        (tmp_path / name).write_text(f"---\nlayout: page\ntitle: {title}\n---\n", "utf-8")
    (tmp_path / "c.md").write_text("text\n", "utf-8")

    faults = read_faults(tmp_path, ["a.md", "b.md", "c.md", "d.py"])

    assert faults == [name_fault("front matter is not valid YAML at line 7"), ""]


def test_keys_are_those_of_headings_and_of_the_ids_behind_them(tmp_path: Path) -> None:
    _write(tmp_path / "a.md", "# The plan\n\ntext {#no}\n## All costs {#our-costs}\n")

    assert read_keys(f"{tmp_path}/a.md") == {"theplan", "allcosts", "ourcosts"}
