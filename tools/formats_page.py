"""Renders the page of file formats: those that kebab reads, and those that it does not."""

from collections import defaultdict
from collections.abc import Iterable

from kebab.core.files import IMAGE, NAMED, OCR_SETTING
from kebab.core.media import MEDIA_TYPES, CitationKind, MediaType
from kebab.core.ports import Parser
from kebab.parse.registry import PARSERS, LazyParser
from kebab.source.content import UNREAD_FORMATS, UnsupportedFormat

_CITED_BY = {
    CitationKind.LINE: "lines",
    CitationKind.PAGE: "page",
    CitationKind.CELL: "cells",
    CitationKind.SLIDE: "slide",
    CitationKind.SECTION: "section",
    CitationKind.CODE: "lines and symbol",
}


_WITHIN = """## Files within files

The files attached to a mail, a PDF or a note of Evernote, the messages of a mailbox, the notes of
an Evernote export and the files of a zip archive are documents of their own. `!/` stands between a
file and what is within it, also several times:

| path | what it names |
|---|---|
| `mail.eml!/plan.pdf#page=2` | a page of an attachment |
| `mail.eml!/part-3.eml` | the third part of a mail: an attached message without a name |
| `box.mbox!/12.eml` | the twelfth message of a mailbox |
| `box.mbox!/12.eml!/plan.pdf` | an attachment of it |
| `notes.enex!/Plan.enex` | the note with the title `Plan` of an Evernote export |
| `export.zip!/Page.md:12` | a line of a file in an archive |

`fetch`, `inspect doc`, `outline`, `grep`, `rm` and the filters take such paths, and `fetch` also
takes `mail.eml#attachment=plan.pdf&page=2` and
`box.mbox#message=12&attachment=plan.pdf`. `open` opens the file that holds the document. A second
file of one name is `plan (2).pdf`.

- **Archives**: by default exports of Notion, Slack, WhatsApp, Google Takeout, Telegram, ChatGPT,
  Claude and Bear are read, which their files tell, and archives within mails and exports. Other
  archives are often code, or copies of notes. `ingest.archives` is `all` for every archive, and
  `none` for no archive.
- **Rules**: ignore files, the size limit, secret names and the recognition of text hold for
  members as for files; the limit of size holds for each member, and not for the mailbox or the
  archive. What is left out is counted by the run that opens the file. A member that cannot be
  read costs itself, and is named.
- **Changes**: a changed file is opened again, and only members with other bytes are read.
  Messages that are appended to a mailbox are read alone. After a message in the middle was
  deleted, those behind it are read again, because their numbers change; equal passages keep their
  vectors.
- **Counts**: `list` and `schema` count documents; the run also says how many files it found in the
  folder. A mailbox and an archive are documents without text.
- **Limits**: four levels, 1,000,000 members and 4 GB of them for one file; of an archive 100,000
  files, 128 MB each, and 200 times its packed size above 16 MB.

"""


def render_formats_page() -> str:
    """Return the text of `formats.md`."""
    named = NAMED.values()
    rows = sorted((one for one in MEDIA_TYPES if one.name not in named), key=_get_sort_key)
    readable = [_format_media(media) for media in rows]
    read = {suffix for media in MEDIA_TYPES for suffix in media.suffixes}
    suffixes_by_format = defaultdict[UnsupportedFormat, list[str]](list)
    for suffix, unread in UNREAD_FORMATS.items():
        suffixes_by_format[unread].append(suffix)
    others = [
        [one.label, _format_names(name for name in suffixes if name not in read), one.hint or "-"]
        for one, suffixes in suffixes_by_format.items()
    ]
    return (
        "# File formats\n\nGenerated from `kebab/core/media.py`, `kebab/parse/registry.py` and"
        " `kebab/source/content.py`. The content of a file decides where its name says nothing"
        " or something wrong.\n\n## What kebab reads\n\n"
        f"{_render_table(['format', 'files', 'cited by', 'needs'], readable)}\n"
        f"{_WITHIN}"
        "## What kebab does not read\n\n`kebab inspect FILE` says so as well.\n"
        "Documents, archives, images, audio and videos of these are found by their names.\n\n"
        f"{_render_table(['format', 'files', 'what helps'], others)}"
    )


def _get_sort_key(media: MediaType) -> tuple[int, str]:
    """Return the place of a format: by its kind of citation, then by its label."""
    return list(CitationKind).index(media.cites), media.label.casefold()


def _format_media(media: MediaType) -> list[str]:
    names = _format_names((*media.suffixes, *media.names))
    return [media.label, names, _CITED_BY[media.cites], _describe_needs(media, PARSERS[media.name])]


def _describe_needs(media: MediaType, parser: Parser) -> str:
    """Return what has to be installed or turned on before a format is read."""
    if media.name == IMAGE:
        return f"`{OCR_SETTING}` or `ingest.captions`, see [pictures](pictures.md)"
    extra = parser.extra if isinstance(parser, LazyParser) else None
    return f"`kebab[{extra}]`" if extra else "-"


def _format_names(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def _render_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
