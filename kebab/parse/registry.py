"""Declares the parser of each media type, and the guard that limits a parser."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from kebab.core import media
from kebab.core.documents import BlockKind, Metadata, ParsedDocument
from kebab.core.files import CONTAINERS, IMAGE, NAMED, OcrSettings, get_suffix
from kebab.core.ports import Parser, PictureReader
from kebab.errors.catalog import ParseFailed
from kebab.limits.deadline import (
    DeadlinePassed,
    build_refusal,
    describe_failure,
    limit_time,
)
from kebab.parse.blocks import Span, build_line_document, watch_builder
from kebab.parse.encoding import (
    decode,
    find_letter_references,
    find_manual_escapes,
    find_string_escapes,
)
from kebab.parse.text.markdown import MarkdownParser


class TextParser:
    """Parses text without markup: paragraphs between blank lines, and clippings of Kindle."""

    version = "text-v4"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the file's stem."""
        decoded = decode(data)
        find_edits = _FIND_EDITS.get(get_suffix(path), find_letter_references)
        find_edits = find_manual_escapes if _MANUAL.match(decoded.text) else find_edits
        spans = find_clippings(decoded.text)
        return build_line_document(decoded, path, spans, Metadata(), find_edits=find_edits)


_FIND_EDITS = dict.fromkeys((".po", ".pot", ".strings", ".edn"), find_string_escapes)
"""What finds the escapes of text in files with a suffix."""


_MANUAL = re.compile(r"(?:[.']\\\".*\n)*\.(?:TH|Dd|so) ")
"""How a manual page begins, whose suffix is the number of its section."""
_CLIPPING_END = "=========="


def find_clippings(text: str) -> Iterator[Span]:
    """Yield a heading with the book of each clipping that a Kindle stored, and the lines between.

    Below the book follow a line that begins with `- `, and the text.
    """
    if f"\n{_CLIPPING_END}" not in text:
        return
    lines, first = text.split("\n"), 0
    for number, line in enumerate(lines):
        if line.strip() == _CLIPPING_END:
            if number > first + 1 and lines[first + 1].startswith("- "):
                label = lines[first].strip("\ufeff ")
                yield Span(BlockKind.HEADING, first, first + 1, 2, label)
            yield Span(None, number, number + 1)
            first = number + 1


_CAUSES = (
    "there is not enough memory, see `ingest.max_memory_mb`",
    "reading takes longer than `ingest.deadline_s`",
)


class LazyParser:
    """A parser whose module is imported when the first file is read.

    `extra` is the extra of the package that installs its libraries. An `isolated` parser runs
    native code or expands its input, so ingest runs it in a worker process with limits.
    """

    def __init__(
        self,
        version: str,
        target: str,
        *arguments: str | OcrSettings | PictureReader | None,
        extra: str | None = None,
        isolated: bool = False,
        companion: str = "",
    ) -> None:
        """Name the class as `module:Class`, below `kebab.parse`, with the arguments to build it.

        `companion` is the path of another file, from the folder of the first, which `parse` gets.
        """
        self.version = version
        self.extra = extra
        self.isolated = isolated
        self.companion = companion
        self._target = target
        self._arguments = arguments

    @property
    def recipe(self) -> str:
        """What decides the text of a document: the version, the reading of pictures, a grammar."""
        readers = [one for one in self._arguments if one and not isinstance(one, str)]
        languages = [
            one.languages if isinstance(one, OcrSettings) else one.recipe for one in readers
        ]
        found = [] if self.extra != "code" or self._has_grammar() else ["without grammar"]
        return " ".join([self.version, *languages, *found])

    def _has_grammar(self) -> bool:
        from kebab.parse.code.symbols import SYNTAXES

        modules = ("tree_sitter", SYNTAXES[str(self._arguments[0])].grammar.partition(".")[0])
        return all(find_spec(module) is not None for module in modules)

    @property
    def deadline_s(self) -> float | None:
        """The time limit of a file that needs longer than others, in seconds; 0 means none."""
        limits = [one.deadline_s for one in self._arguments if one and not isinstance(one, str)]
        return max(limits) * all(limits) if limits else None

    def parse(self, data: bytes, path: str, *companion: bytes) -> ParsedDocument:
        """Return the document; where a limit ends the work, what was read before."""
        parser = _load_parser(self._target, *self._arguments)
        return parse_in_part(parser, data, path, *companion)


def parse_in_part(parser: Parser, data: bytes, path: str, *companion: bytes) -> ParsedDocument:
    """Return the document; where a limit ends the work, what was read before.

    Raises:
        ParseFailed: The bytes are not what the media type promises.
        MemoryError: There is too little memory for any part.
    """
    with watch_builder() as get_builder:
        try:
            return parser.parse(data, path, *companion)
        except ParseFailed as error:
            if data:
                raise
            raise build_refusal("the file is empty") from error
        except (DeadlinePassed, MemoryError) as limit:
            # The frames of the parser hold what it has read.
            stopped = limit.with_traceback(None)
        is_late = isinstance(stopped, DeadlinePassed)
        part = builder.build_part(path, _CAUSES[is_late]) if (builder := get_builder()) else None
        if part is None:
            raise stopped
        if isinstance(stopped, DeadlinePassed):
            stopped.excuse()
        return part


@cache
def _load_parser(target: str, *arguments: str | OcrSettings | PictureReader | None) -> Parser:
    module, _, name = target.partition(":")
    parser: Parser = getattr(import_module(f"kebab.parse.{module}"), name)(*arguments)
    return parser


_HANGUL = LazyParser(
    "hwp-v4", "office.old_office:OldOfficeParser", "hwp", extra="office", isolated=True
)
_SHEETS = LazyParser("sheet-v9", "office.sheets:SheetParser", extra="office", isolated=True)

PARSERS: Mapping[str, Parser] = {
    "text/markdown": MarkdownParser(),
    "text/plain": TextParser(),
    media.DOCX: LazyParser("docx-v8", "office.docx:DocxParser", isolated=True),
    media.DOC: LazyParser("doc-v7", "office.old_office:DocParser", extra="office", isolated=True),
    media.PPT: LazyParser(
        "ppt-v4", "office.old_office:OldOfficeParser", "ppt", extra="office", isolated=True
    ),
    media.MSG: LazyParser("msg-v8", "mail.message:MsgParser", extra="office", isolated=True),
    **dict.fromkeys((media.HWP, media.HWPX), _HANGUL),
    "text/html": LazyParser("html-v9", "web.html:HtmlParser", isolated=True),
    media.PPTX: LazyParser("pptx-v8", "office.pptx:PptxParser", isolated=True),
    media.ODT: LazyParser("odt-v6", "office.odf:OdtParser", isolated=True),
    media.ODP: LazyParser("odp-v7", "office.odf:OdpParser", isolated=True),
    **dict.fromkeys((media.XLSX, media.XLSB, media.XLS, media.ODS), _SHEETS),
    "application/epub+zip": LazyParser("epub-v8", "web.epub:EpubParser", isolated=True),
    media.ENEX_NOTE: LazyParser("enex-v7", "exports:EnexParser", isolated=True),
    "application/rtf": LazyParser("rtf-v8", "office.rtf:RtfParser"),
    "multipart/related": LazyParser("mhtml-v6", "mail.message:MhtmlParser", isolated=True),
    media.EMAIL: LazyParser("email-v8", "mail.message:EmailParser", isolated=True),
    **dict.fromkeys(CONTAINERS, LazyParser("container-v2", "containers:ContainerParser")),
    **dict.fromkeys(
        ("text/calendar", "text/vcard"), LazyParser("cards-v1", "mail.cards:CardParser")
    ),
    "text/x-bibtex": LazyParser("bibtex-v3", "text.latex:BibtexParser"),
    "text/x-rst": LazyParser("rst-v4", "text.rst:RstParser"),
    **{
        one.name: LazyParser("source-v5", "code.source:SourceParser")
        if one.language in media.PATTERN_LANGUAGES
        else LazyParser(
            "code-v6", "code.source:CodeParser", one.language, extra="code", isolated=True
        )
        for one in media.MEDIA_TYPES
        if one.cites is media.CitationKind.CODE
    },
    **{
        name: LazyParser("data-v5", "text.data:DataParser", kind)
        for name, kind in (
            ("application/json", "json"),
            ("application/x-ndjson", "lines"),
            ("application/yaml", "yaml"),
            ("application/toml", "sections"),
            ("text/x-ini", "sections"),
            ("text/csv", "table"),
            ("text/tab-separated-values", "table"),
            ("application/xml", "xml"),
        )
    },
    media.CHAT: LazyParser(
        "chat-v7",
        "exports:ChatExportParser",
        isolated=True,
        companion="../users.json",
    ),
    "application/x-ipynb+json": LazyParser(
        "notebook-v4", "text.notebook:NotebookParser", isolated=True
    ),
    media.SOURCE: LazyParser("source-v5", "code.source:SourceParser"),
    "text/asciidoc": LazyParser("asciidoc-v5", "text.asciidoc:AsciiDocParser"),
    "text/org": LazyParser("org-v4", "text.org:OrgParser"),
    "text/x-tex": LazyParser("latex-v5", "text.latex:LatexParser"),
    "text/vtt": LazyParser("subtitles-v4", "text.subtitles:SubtitlesParser"),
    media.PDF: LazyParser("pdf-v11", "pdf.document:PdfParser", extra="pdf", isolated=True),
    IMAGE: LazyParser("image-v2", "pdf.ocr:ImageParser", isolated=True),
    **dict.fromkeys(NAMED.values(), TextParser()),
}
"""The parser of every media type of `kebab.core.media`; a new format needs a row in both."""


def configure_parsers(
    ocr: OcrSettings | None, model: PictureReader | None = None
) -> Mapping[str, Parser]:
    """Return the parsers that read pictures with tesseract, a model, both, or not at all."""
    if ocr is None and model is None:
        return PARSERS
    reader = ocr or (model if model and "ocr" in model.tasks else None)
    return {
        **PARSERS,
        media.PDF: LazyParser(
            "pdf-v11", "pdf.document:PdfParser", reader, extra="pdf", isolated=True
        ),
        IMAGE: LazyParser("image-v2", "pdf.ocr:ImageParser", ocr, model, isolated=True),
    }


def list_parser_versions() -> list[str]:
    """Return the labels of all parsers, each once, in order."""
    return sorted({parser.version for parser in PARSERS.values()})


PARSER_EXCEPTIONS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    NameError,
    RuntimeError,
    StopIteration,
    SystemError,
    TypeError,
    ValueError,
    re.error,
)
"""The exceptions that parsers and their libraries may raise for unusual bytes."""


@contextmanager
def convert_exceptions(path: str, parser: str) -> Iterator[None]:
    """Turn unexpected exceptions of a parser into `ParseFailed`, and name its refusals."""
    try:
        yield
    except ParseFailed as refusal:
        refusal.path, refusal.parser = refusal.path or path, refusal.parser or parser
        raise
    except PARSER_EXCEPTIONS as fault:
        raise ParseFailed(path=path, parser=parser, cause=describe_failure(fault)) from fault


@contextmanager
def guard_parser(path: str, parser: str, seconds: float) -> Iterator[None]:
    """Run a parser under a deadline, and turn its unexpected exceptions into `ParseFailed`."""
    with limit_time(seconds, path), convert_exceptions(path, parser):
        yield
