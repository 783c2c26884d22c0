"""What is shown of a passage is exactly the cited lines of the file, but for marked context."""

import re

import pytest
from msgspec import convert

from kebab.cli.commands.serve import render_for_model
from kebab.cli.render.compact import CONTEXT_MARK
from kebab.core.media import MEDIA_TYPES, CitationKind
from kebab.wire.search import SearchResponse
from tests.contract.test_compact import split_blocks
from tests.fakes.console import run

ROWS = 90
SAMPLES = {
    ".py": ("def quill(nib):", "    nib = quill(nib, {0})"),
    ".js": ("function quill(nib) {{", "  nib = ink(quill, {0});", "}}"),
    ".ts": ("function quill(nib: number) {{", "  nib = ink(quill, {0});", "}}"),
    ".go": ("package a\n\nfunc quill(nib int) {{", "\tnib = ink(quill, {0})", "}}"),
    ".rs": ("#[test]\nfn quill() {{", "    ink(quill, {0});", "}}"),
    ".java": ("class A {{\n  void quill() {{", "    ink(quill, {0});", "  }}\n}}"),
    ".c": ("void quill(int nib) {{", "  ink(quill, {0});", "}}"),
    ".cc": ("void quill(int nib) {{", "  ink(quill, {0});", "}}"),
    ".cs": ("class A {{\n  void quill() {{", "    ink(quill, {0});", "  }}\n}}"),
    ".kt": ("fun quill(nib: Int) {{", "    ink(quill, {0})", "}}"),
    ".rb": ("def quill(nib)", "  nib = ink(quill, {0})", "end"),
    ".sh": ("quill() {{", "  ink quill {0}", "}}"),
    ".sql": ("CREATE TABLE quill (", "  nib_{0} INTEGER, -- a quill", "  ink TEXT\n);"),
    ".swift": ("func quill(nib: Int) {{", "    ink(quill, {0})", "}}"),
    ".scala": ("object A {{\n  def quill() = {{", "    ink(quill, {0})", "  }}\n}}"),
    ".ex": ("defmodule A do\n  def quill(nib) do", "    ink(quill, {0})", "  end\nend"),
    ".php": ("<?php\nfunction quill($nib) {{", "  ink($quill, {0});", "}}"),
    ".lua": ("function quill(nib)", "  ink(quill, {0})", "end"),
    ".hs": ("quill nib = do", "  ink quill {0}", "  pure ()"),
    ".zig": ("fn quill() void {{", "    ink(quill, {0});", "}}"),
    ".dart": ("void quill(int nib) {{", "  ink(quill, {0});", "}}"),
    ".jl": ("function quill(nib)", "    ink(quill, {0})", "end"),
    ".tf": ('resource "pen" "quill" {{', "  quill_{0} = {0}", "}}"),
    ".r": ("quill <- function(nib) {{", "  ink(quill, {0})", "}}"),
    ".pl": ("sub quill {{", "  ink($quill, {0});", "}}"),
    ".clj": ("(defn quill [nib]", "  (ink quill {0})", "  nib)"),
    ".erl": ("quill(Nib) ->", "    ink(quill, {0}),", "    ok."),
    ".ml": ("let quill nib =", "  ink quill {0};", "  ()"),
    ".fs": ("let quill nib =", "    ink quill {0}", "    0"),
    ".groovy": ("def quill(nib) {{", "  ink(quill, {0})", "}}"),
    ".ps1": ("function quill {{", "  ink quill {0}", "}}"),
    ".nim": ("proc quill(nib: int) =", "  ink(quill, {0})", "  discard"),
    ".f": ("subroutine quill(nib)", "  ink(quill, {0})", "end"),
    ".sol": ("contract Quill {{\n  function quill() public {{", "    ink(quill, {0});", "  }}\n}}"),
    ".proto": ("message Quill {{", "  int32 quill{0} = {0};", "}}"),
    ".graphql": ("type Quill {{", "  quill(n: {0}): Int", "}}"),
    ".md": ("# Nibs\n\n| quill | ink |\n|---|---|", "| quill {0} | black {0} |"),
    ".rst": ("Nibs\n====\n\n=====  =====\nquill  ink\n=====  =====", "quill  {0}", "=====  ====="),
    ".adoc": ("= Nibs\n\n|===\n|quill |ink", "|quill {0} |black", "|==="),
    ".org": ("* Nibs\n| quill | ink |\n|-------+-----|", "| quill {0} | black |"),
    ".tex": ("\\begin{{tabular}}{{ll}}\nquill & ink \\\\", "quill & {0} \\\\", "\\end{{tabular}}"),
    ".bib": ("@book{{quill,", '  note = "quill {0}",'),
    ".csv": ("quill,ink", "quill {0},black"),
    ".tsv": ("quill\tink", "quill {0}\tblack"),
    ".json": ("[", '  {{"quill": {0}}},', '  {{"quill": 0}}\n]'),
    ".jsonl": ("", '{{"quill": {0}, "ink": "black"}}'),
    ".yaml": ("quills:", "  - quill: {0}"),
    ".toml": ("[quills]", 'quill_{0} = "quill"'),
    ".ini": ("[quills]", "quill_{0} = quill"),
    ".xml": ("<nibs>", "  <quill ink='{0}'>quill</quill>", "</nibs>"),
    ".txt": ("Nibs", "    quill  {0}"),
    ".applescript": ("on quill(nib)", "  set nib to quill({0})", "end quill"),
    ".srt": ("", "{0}\n00:00:{0:02},000 --> 00:00:{0:02},900\nThe quill {0}\n"),
}
"""The first lines, a repeated row and the last lines of a file, by its suffix."""
STANDS_ALONE = {".json", ".jsonl", ".xml", ".txt", ".srt", ".bib", ".hs"}
"""Formats whose passages need no context, and Haskell, whose functions no pattern finds."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each format that is cited by lines, longer than a passage."""
    made = tmp_path_factory.mktemp("quills")
    for suffix, (first, row, *last) in SAMPLES.items():
        lines = [first.format(), *(row.format(number) for number in range(1, ROWS)), *last]
        text = "\n".join(line.format() if line in last else line for line in lines)
        (made / f"nib{suffix}").write_text(text.lstrip("\n") + "\n")
    return made


def test_every_format_that_is_cited_by_lines_has_a_sample():
    by_lines = {CitationKind.LINE, CitationKind.CODE}
    first = {one.suffixes[0] for one in MEDIA_TYPES if one.cites in by_lines and one.suffixes}

    assert {suffix.replace(".vtt", ".srt") for suffix in first} == SAMPLES.keys()


@pytest.fixture(scope="module")
def quills(folder, tmp_path_factory):
    """A knowledge base of these files."""
    data = tmp_path_factory.mktemp("data")
    assert run("ingest", str(folder), "--data-dir", str(data)).status == 0
    return data


def cut_lines(folder, citation):
    """Return the cited lines of a file."""
    span = citation.get("line") or citation["code"]
    lines = (folder / citation["path"]).read_text().split("\n")
    return "\n".join(lines[span["start"] - 1 : span["end"]])


@pytest.mark.parametrize("suffix", SAMPLES)
def test_a_passage_is_the_cited_lines_of_its_file(kebab, folder, quills, suffix):
    flags = ("--path", f"*nib{suffix}", "--data-dir", str(quills))
    reply = kebab("search", "quill", *flags, "--detail", "passages", "--json").reply
    one = ("search", "quill 45", *flags, "-n", "1")
    first = kebab(*one, "--detail", "passages", "--json").reply
    compact = kebab(*one, "--format", "compact").out

    hits = reply["hits"]
    assert len(hits) > 1
    assert [hit["text"] for hit in hits] == [cut_lines(folder, hit["citation"]) for hit in hits]
    assert any("context" in hit for hit in hits) != (suffix in STANDS_ALONE)
    [hit] = first["hits"]
    for text in (compact, render_for_model(convert(first, SearchResponse))):
        [(reference, shown)] = split_blocks(text).items()
        start, end = (int(line) for line in re.findall(r"L(\d+)", reference.rpartition("#")[2]))
        span = {"start": start, "end": end}
        cited = cut_lines(folder, {**hit["citation"], "line": span})
        marked = [line for line in shown.split("\n") if line.startswith(CONTEXT_MARK)]
        context = hit.get("context", "")
        # A passage that has grown may begin with what was its context.
        assert marked == ([CONTEXT_MARK + context] if context else []) or context in shown
        assert shown.removeprefix("".join(f"{line}\n" for line in marked)) == cited.strip("\n")


def test_lines_keep_the_blanks_at_their_ends(kebab, home):
    (home / "notes" / "verse.md").write_text("A zeppelin  \nover the sea\n")
    kebab("ingest", str(home / "notes"))

    reply = kebab("search", "zeppelin", "--detail", "passages", "--json").reply

    assert "A zeppelin  \nover the sea" in render_for_model(convert(reply, SearchResponse))


def test_passages_that_share_a_line_are_not_joined_as_two_lines(kebab, home):
    line = " ".join(f"The zeppelin number {number} flew over the sea." for number in range(80))
    (home / "notes" / "long.md").write_text(f"# Flights\n\n{line}\n")
    kebab("ingest", str(home / "notes"))

    out = kebab("search", "zeppelin", "--format", "compact").out

    blocks = [block for block in out.split("\n\n") if "[" in block.partition("\n")[0]]
    texts = [line for block in blocks for line in block.split("\n")[1:]]
    assert len(texts) > 1
    assert len(blocks) == len(texts)
