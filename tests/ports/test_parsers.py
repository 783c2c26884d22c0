"""What every parser promises, whatever the bytes."""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import ClassVar

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from kebab.core.documents import ParsedDocument
from kebab.core.media import MEDIA_TYPES, CitationKind
from kebab.core.ports import Parser, is_isolated
from kebab.errors.catalog import ParseFailed
from kebab.errors.signal import Signal
from kebab.limits.worker import WorkerProcess
from kebab.parse.isolation import ParseTask, run_parser
from kebab.parse.registry import PARSERS, guard_parser

MEDIA = sorted(PARSERS)
LINES = sorted(
    media.name for media in MEDIA_TYPES if media.cites in {CitationKind.LINE, CitationKind.CODE}
)
"""The formats whose text is the file itself."""
PROSE = ["text/markdown", "text/plain"]
"""The formats of which every line is searched, except front matter and what `NOISE` matches."""

COMMENT = r"<!--.*?-->"
TAG = r"</?[a-z]+>"
NOISE = re.compile(rf"(?:\s|{COMMENT}|{TAG})*", re.DOTALL)
"""What may be left out of the notes below: comments and tags that fill their lines."""

FRAGMENTS = st.sampled_from(
    [
        *("# heading\n", "setext\n===\n", "---\n", "+++\n", "title: x\n", "- item\n", "1. one\n"),
        *("    indented\n", "> quote\n", "```\n", "| a | b |\n|---|---|\n", "<div>\n", "***\n"),
        *("[a]: http://x\n", "<!-- ", "-->", "[", "*", "`", "text "),
        *("\n", "  \n", "\r\n", "\r", "\t", "\u2028", "\u00a0\n", "\x0c\n"),
        *("e\u0301", "한글 ", "\U0001f600"),
    ]
)
CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"])
NOTES = st.lists(FRAGMENTS | st.text(CHARACTERS, max_size=8), max_size=30).map("".join)


def check_document(document: ParsedDocument) -> None:
    """Assert what holds for the document of every parser."""
    text, end = document.text, 0
    assert unicodedata.is_normalized("NFC", text), "the text is not NFC"
    assert not {"\r", "\0"} & set(text), "a line ends with a carriage return, or there is a zero"
    for block in document.blocks:
        assert end <= block.start < block.end <= len(text), f"a block is out of order: {block}"
        assert block.start == 0 or text[block.start - 1] == "\n", f"it begins in a line: {block}"
        assert text[block.start : block.end].strip(), f"a block is empty: {block}"
        assert bool(block.level) == (block.kind == "heading"), f"only headings have levels: {block}"
        end = block.end
    starts = [place.start for place in document.places]
    assert starts == sorted(set(starts)), "the places are not in order"
    assert {*starts} <= {block.start for block in document.blocks}, "a place begins in a block"
    assert document.title, "there is no title"
    assert "\n" not in document.title, "the title has two lines"


CRASH = "the parser crashed"


class GuardedParser:
    """Runs an isolated parser in a worker, as ingest does; a crash is a refusal.

    The native code of some grammars crashes on some input, which would end the test process. The
    worker is kept for the next file.
    """

    worker: ClassVar[WorkerProcess | None] = None

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self.version = parser.version

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        if GuardedParser.worker is None:
            GuardedParser.worker = WorkerProcess(run_parser, 1024)
            assert GuardedParser.worker.poll(60.0)
            assert GuardedParser.worker.receive() is not None
        worker = GuardedParser.worker
        worker.send(ParseTask(self._parser, data, path, 30.0))
        reply = worker.receive() if worker.poll(60.0) else None
        if reply is None:
            worker.close()
            GuardedParser.worker = None
            raise ParseFailed(path=path, parser=self.version, cause=CRASH)
        assert not reply.fault
        if isinstance(reply.result, ParseFailed):
            assert not reply.result.cause.startswith("the parser failed")
        if isinstance(reply.result, Signal):
            raise reply.result
        document: ParsedDocument = reply.result
        return document


@pytest.fixture(scope="module", autouse=True)
def close_worker() -> Iterator[None]:
    yield
    if GuardedParser.worker is not None:
        GuardedParser.worker.close()
        GuardedParser.worker = None


def get_parser(media: str) -> Parser:
    parser = PARSERS[media]
    return GuardedParser(parser) if is_isolated(parser) else parser


def parse_note(media: str, note: str) -> ParsedDocument:
    """Parse a note; one that crashes native code is not an example."""
    try:
        return get_parser(media).parse(note.encode("utf-8", "replace"), "a.md")
    except ParseFailed as refusal:
        if refusal.cause != CRASH:
            raise
        reject()


@pytest.mark.parametrize("media", LINES)
@given(note=NOTES)
def test_every_note_becomes_sound_blocks_and_keeps_its_lines(media, note):
    document = parse_note(media, note)
    check_document(document)
    assert document.text.count("\n") == len(re.split("\r\n|\r|\n", note)) - 1


def assert_noise(left_out: str, media: str) -> None:
    assert not left_out.strip() or (media == "text/markdown" and NOISE.fullmatch(left_out)), (
        "text is lost"
    )


@pytest.mark.parametrize("media", PROSE)
@given(note=NOTES)
def test_every_line_of_prose_is_in_a_block(media, note):
    document = get_parser(media).parse(note.encode("utf-8", "replace"), "a.md")
    end = document.blocks[0].start if document.blocks else len(document.text)
    if document.text[:1] not in {"-", "+", "{"}:  # front matter may be left out
        assert_noise(document.text[:end], media)
    for block in document.blocks:
        assert_noise(document.text[end : block.start], media)
        end = block.end
    assert_noise(document.text[end:], media)


@pytest.mark.parametrize("media", MEDIA)
@given(data=st.binary(max_size=400))
def test_bytes_are_parsed_or_refused_and_never_fail_otherwise(media, data):
    with suppress(ParseFailed):
        check_document(get_parser(media).parse(data, "a.md"))


def test_a_refusal_names_the_file_and_the_parser():
    for media in MEDIA:
        parser = get_parser(media)
        with pytest.raises(ParseFailed) as refusal, guard_parser("dir/a.md", parser.version, 0):
            parser.parse(bytes(range(256)) * 4, "dir/a.md")
        assert (refusal.value.path, refusal.value.parser) == ("dir/a.md", parser.version)


@pytest.mark.parametrize("media", PROSE)
def test_a_name_that_is_not_text_still_makes_a_title(media):
    document = get_parser(media).parse(b"", "dir/caf\udce9.md")
    assert document.title == "caf\ufffd"


def test_parsing_twice_gives_the_same_document():
    data = b"# A\n\nb\n"
    for media in LINES:
        assert get_parser(media).parse(data, "a.md") == get_parser(media).parse(data, "a.md")


def test_the_version_is_a_label():
    for media in MEDIA:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*-v\d+", get_parser(media).version)
