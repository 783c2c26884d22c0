"""Every reference that compact text prints fetches exactly the lines that stand below it."""

import re

import pytest

REFERENCE = re.compile(r"(\S+#L\d\S*) \[(?:strong|fair|weak)[^\]]*\]")


def split_blocks(text):
    """Return the reference and the lines of each block; notes after the last one are left out."""
    blocks: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if found := REFERENCE.match(line):
            blocks[found[1]] = lines = []
        elif not line.startswith(("more: ", "not in ", "nothing ")):
            lines.append(line)
    return {reference: "\n".join(lines).strip("\n") for reference, lines in blocks.items()}


def fetch(kebab, reference):
    [part] = kebab("fetch", reference, "--json").reply["results"]
    return part["text"].strip("\n")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "words", [["restore"], ["배추"], ["-q", "restore", "-q", "garden", "-n", "20"]]
)
def test_a_reference_fetches_the_lines_below_it(kebab, words):
    blocks = split_blocks(kebab("search", *words, "--format", "compact", "--all").out)

    assert blocks
    assert {reference: fetch(kebab, reference) for reference in blocks} == blocks


def test_a_reference_to_another_source_is_fetched_too(kebab, home):
    more = home / "more notes"
    (more / "work").mkdir(parents=True)
    note = "# Backups\n\nThe restore of the zeppelin\n\n    $ needs  helium\n"
    (more / "work" / "backups.md").write_text(note)
    kebab("ingest", str(more))

    words = ["restore", "zeppelin"]
    blocks = split_blocks(kebab("search", *words, "--format", "compact", "--all").out)

    assert note.strip("\n") in blocks.values()
    assert {reference: fetch(kebab, reference) for reference in blocks} == blocks
    assert any(reference.startswith("/") for reference in blocks)
