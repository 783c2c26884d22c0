import json

import pytest

from kebab.cli.baseline import read_baseline
from kebab.errors.catalog import InvalidInput, IoError

PRINT = "0123456789abcdef"


def write(path, *findings, version=1):
    path.write_text(json.dumps({"version": version, "findings": list(findings)}))
    return str(path)


def entry(file="docs/a.md", **fields):
    return {"file": file, "rule": "todo", "fingerprint": PRINT, **fields}


def test_paths_are_relative_to_the_folder_of_the_file(tmp_path):
    path = write(tmp_path / "base.json", entry(reason="why"), entry("../b.md"))
    found = read_baseline(path)
    assert [one.file for one in found] == [f"{tmp_path}/docs/a.md", f"{tmp_path.parent}/b.md"]
    assert {(one.rule, one.fingerprint) for one in found} == {("todo", PRINT)}


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "findings": []}', '{"version": 1}'])
def test_another_file_is_no_baseline(tmp_path, text):
    path = tmp_path / "base.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"\$\.baseline.*is no baseline"):
        read_baseline(str(path))


def test_a_missing_file_cannot_be_read(tmp_path):
    with pytest.raises(IoError):
        read_baseline(str(tmp_path / "none.json"))


def test_all_findings_are_written_and_then_known(kebab, note, home):
    ran = kebab("review", "a.md", "--write-baseline", "base.json")
    assert (ran.status, ran.out) == (0, "base.json: 1 finding of 1 file\n")
    (known,) = json.loads((home / "base.json").read_text())["findings"]
    assert (known["file"], known["rule"]) == ("a.md", "repeated-word")


def test_entries_of_other_files_stay_unless_the_file_is_gone(kebab, note, home):
    (home / "b.md").write_text("# B\n")
    write(home / "base.json", entry("a.md"), entry("b.md"), entry("gone.md"))
    kebab("review", "a.md", "--write-baseline", "base.json")
    found = json.loads((home / "base.json").read_text())["findings"]
    assert [(one["file"], one["rule"]) for one in found] == [
        ("a.md", "repeated-word"),
        ("b.md", "todo"),
    ]


def test_an_interrupted_review_writes_no_file(kebab, note, home):
    note.rename(note.with_name("late.md"))
    ran = kebab("review", "late.md", "--write-baseline", "base.json")
    assert (ran.status, ran.out) == (130, "")
    assert "the baseline is not written" in ran.err
    assert not (home / "base.json").exists()


def test_no_file_is_written_under_read_only(kebab, note, home):
    ran = kebab("--read-only", "review", "a.md", "--write-baseline", "base.json", "--json")
    assert ran.status == 2
    assert not (home / "base.json").exists()
