"""Linters run over the files of a review, their findings are mapped, and failures are named."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kebab.app.review_files import build_review_text
from kebab.errors.system import format_install
from kebab.review.document import Finding, ReviewDocument
from kebab.review.linters import Linter, Rumdl, Typos
from tests.fakes.review import FakeSurroundings, make_document

if TYPE_CHECKING:
    from kebab.wire.search import DegradedChannel


def read(file: Path) -> ReviewDocument:
    return ReviewDocument(build_review_text(file, file.parent, max_bytes=1_000_000))


def check(linter: Linter, document: ReviewDocument) -> list[Finding]:
    return list(linter.check(document, FakeSurroundings()))


def write(file: Path, text: str) -> Path:
    file.write_bytes(text.encode())
    return file


def find_typos(folder: Path, text: str, lang: str = "en") -> list[Finding]:
    """Return what typos finds in a text."""
    source = read(write(folder / "a.md", text)).source
    return check(Typos(), ReviewDocument(replace(source, lang=lang)))


def test_a_finding_of_rumdl_has_its_rule_and_its_line(tmp_path: Path) -> None:
    document = read(
        write(tmp_path / "a.md", "# Plan\n\nRead the (manual)[https://a.example] first.\n")
    )
    (found,) = check(Rumdl(), document)
    assert (found.rule_id, found.kind, found.severity) == ("rumdl:MD011", "markup", "error")
    assert document.text[found.start : found.end] == "(manual)[https://a.example]"
    assert found.fix is not None
    assert (found.edit, found.fix.text, found.fix.safe) == (
        "replace",
        "[manual](https://a.example)",
        False,
    )


def test_indented_code_behind_a_shortcode_is_not_reported(tmp_path: Path) -> None:
    code = "{{< highlight md >}}\n    one\n    (manual)[a.md]\n    two\n{{< /highlight >}}\n"
    assert check(Rumdl(), read(write(tmp_path / "a.md", f"# Plan\n\n{code}"))) == []


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_fix_of_rumdl_has_its_place_behind_wide_characters_and_line_ends(
    tmp_path: Path, start: str
) -> None:
    document = read(write(tmp_path / "a.md", f"{start}# Plän 😀\r\n\r\n#Costs 😀\r\n"))
    (found,) = check(Rumdl(), document)
    assert found.fix is not None
    fixed = document.text[: found.start] + found.fix.text + document.text[found.end :]
    assert (found.rule_id, found.fix.safe) == ("rumdl:MD018", True)
    assert fixed == "# Plän 😀\n\n# Costs 😀\n"


def test_the_configuration_of_a_repository_decides_about_rules_of_taste(tmp_path: Path) -> None:
    long = f"# Plan\n\n{'word ' * 40}\n\n(manual)[a.md]\n"
    file = write(tmp_path / "a.md", long)
    assert [one.rule_id for one in check(Rumdl(), read(file))] == ["rumdl:MD011"]
    folder = tmp_path / "configured"
    folder.mkdir()
    write(folder / ".rumdl.toml", '[global]\ndisable = ["MD011", "MD009"]\n')
    found = check(Rumdl(), read(write(folder / "a.md", long)))
    assert {one.rule_id for one in found} == {"rumdl:MD013"}


def test_commands_of_a_configuration_are_not_run(tmp_path: Path) -> None:
    tool = f'command = ["touch", "{tmp_path}/ran"]\n'
    languages = '[code-block-tools.languages]\npython = { lint = ["tool"] }\n'
    write(
        tmp_path / ".rumdl.toml",
        f"[code-block-tools]\nenabled = true\n{languages}[code-block-tools.tools.tool]\n{tool}",
    )
    check(Rumdl(), read(write(tmp_path / "a.md", "# A\n\n```python\nx = 1\n```\n")))
    assert not (tmp_path / "ran").exists()


def test_one_run_reads_the_files_that_follow(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = write(
        tmp_path / "program",
        f"#!{sys.executable}\nopen({str(log)!r}, 'a').write(chr(10))\n",
    )
    program.chmod(0o755)
    files = [write(tmp_path / name, "x\n") for name in ("a.md", "b.md", "c.md")]
    linter = Typos([str(one) for one in files], program=str(program))
    documents = [read(file) for file in files]
    for document in documents[:2]:
        assert check(linter, document) == []
    assert len(log.read_text().splitlines()) == 1
    documents[2] = read(write(files[2], "changed since\n"))
    check(linter, documents[2])
    assert len(log.read_text().splitlines()) == 2


def test_a_misspelled_word_has_a_certain_fix_in_prose_only(tmp_path: Path) -> None:
    found = find_typos(tmp_path, "You `recieve` it, 😀 and recieve more.\n")
    assert [(one.start, one.fix and one.fix.safe) for one in found] == [(5, False), (24, True)]
    assert {one.fix and one.fix.text for one in found} == {"receive"}


@pytest.mark.parametrize("text", ["mis-recieve it", "RECIEVE it", "prerecieve2", "wr1teable"])
def test_parts_of_longer_words_and_words_in_capitals_are_names(tmp_path: Path, text: str) -> None:
    assert find_typos(tmp_path, f"{text}\n") == []


@pytest.mark.parametrize(("lang", "found"), [("en", 1), ("ko", 1), ("fr", 0)])
def test_other_languages_with_latin_letters_are_not_checked(
    tmp_path: Path, lang: str, found: int
) -> None:
    text = "메시지를 받는다(recieve).\n" if lang == "ko" else "You recieve it.\n"
    assert len(find_typos(tmp_path, text, lang)) == found


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("import sys; sys.exit(7)", "rumdl failed: 7"),
        ("import sys; sys.exit('no such rule')", "rumdl failed: no such rule"),
        ("print('[')", "Input data was truncated"),
        ("print('[{\"file\": 1}]')", "Expected `str`, got `int`"),
    ],
)
def test_a_program_that_fails_is_named(tmp_path: Path, script: str, cause: str) -> None:
    faults: list[DegradedChannel] = []
    program = write(tmp_path / "rumdl", f"#!{sys.executable}\n{script}\n")
    program.chmod(0o755)
    linter = Rumdl(report=faults.append, program=str(program))
    assert check(linter, read(write(tmp_path / "a.md", "# A\n"))) == []
    assert faults[0].channel == "lint"
    assert cause in faults[0].reason


def test_a_broken_configuration_is_named(tmp_path: Path) -> None:
    faults: list[DegradedChannel] = []
    write(tmp_path / "typos.toml", "[default\n")
    check(Typos(report=faults.append), read(write(tmp_path / "a.md", "text\n")))
    assert "TOML parse error" in faults[0].reason


def test_without_the_program_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    faults: list[DegradedChannel] = []
    check(Rumdl(report=faults.append), make_document("# A\n"))
    assert (faults[0].reason, faults[0].hint) == (
        "rumdl is not installed",
        format_install("kebab", ["lint"]),
    )
