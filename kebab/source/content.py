"""Detects formats by the first bytes of a file, and describes the formats that are not read.

A format is named by a suffix, e.g. `.pdf`, which `kebab.core.media` and this module know.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from kebab.core.files import CONTAINERS, NAMED, get_suffix
from kebab.core.media import (
    DOC,
    PLAIN,
    CitationKind,
    detect_media_type,
    get_media_type,
    is_built_in,
)
from kebab.text.normalize import load_words


class UnsupportedFormat(NamedTuple):
    """A format that no parser reads; `hint` says what to do, and is empty when nothing helps."""

    label: str
    hint: str = ""


_HINTS = load_words("unread_hints")
UNREAD_FORMATS = {
    f".{suffix}": UnsupportedFormat(label, _HINTS.get(label, ""))
    for label, suffixes in load_words("unread_formats").items()
    for suffix in suffixes.split()
}
"""The formats that are not read by their suffixes, first those that can be made readable.

Of SVG the few words are those of a drawing, and its paths would be thousands of passages.
"""


def describe_unsupported(suffix: str) -> UnsupportedFormat | None:
    """Return what files of a suffix are, e.g. `.hwp`; None for a suffix that is not known."""
    return UNREAD_FORMATS.get(suffix.lower())


def find_named_media(name: str) -> str | None:
    """Return the media type of a file that is found by its name, such as a video; None of others.

    Programs, data, fonts and temporary files are none.
    """
    unread = UNREAD_FORMATS.get(get_suffix(name))
    if unread is None or not (unread.hint or unread.label in NAMED):
        return None
    return NAMED.get(unread.label, NAMED[""])


HEAD_BYTES = 8192
"""How much of a file decides."""

_MAGIC = (
    (b"%PDF-", ".pdf"),
    (b"{\\rtf", ".rtf"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x1f\x8b", ".gz"),
    (b"BZh", ".bz2"),
    (b"\xfd7zXZ\0", ".xz"),
    (b"(\xb5/\xfd", ".zst"),
    (b"7z\xbc\xaf\x27\x1c", ".7z"),
    (b"Rar!\x1a\x07", ".rar"),
    (b"SQLite format 3\0", ".sqlite"),
    (b"\x7fELF", ".so"),
    (b"HWP Document File", ".hwp"),
    (b"AT&TFORM", ".djvu"),
    (b"OggS\0", ".ogg"),
    (b"fLaC\0", ".flac"),
    (b"ID3\x03", ".mp3"),
    (b"ID3\x04", ".mp3"),
    (b"8BPS\0", ".psd"),
)
_BINARY_MAGIC = (
    (b"GIF8", ".gif"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"MZ", ".exe"),
    (b"%!PS", ".ps"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = (
    ("HwpSummaryInformation", ".hwp"),
    ("PowerPoint Document", ".ppt"),
    ("Workbook", ".xls"),
    ("WordDocument", ".doc"),
    ("__substg1.0", ".msg"),
)
_ZIP = b"PK\x03\x04"
_ZIP_PARTS = (
    (b"mimetypeapplication/epub+zip", ".epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", ".odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods"),
    (b"mimetypeapplication/vnd.oasis.opendocument.presentation", ".odp"),
    (b"mimetypeapplication/hwp+zip", ".hwpx"),
    (b"word/", ".docx"),
    (b"ppt/", ".pptx"),
    (b"xl/", ".xlsx"),
    (b"META-INF/MANIFEST.MF", ".jar"),
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\b\t\n\v\f\r\x1b"))
_NO_CONTROLS = bytes(set(range(256)) - set(_CONTROLS))
_HTML = re.compile(
    rb"(?:<\?xml[^<>]*>\s*+)?(?:<!--(?:(?!-->).)*-->\s*+)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
PRIVATE_KEY = re.compile(rb"\s*-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY")
"""How the file of a private key begins."""
_LARGEST_SECRET = 16 * 1024
"""The largest file that is opened to look for a key. The key files of services have 2 to 4 KB."""


def may_hold_secret(path: str, size: int) -> bool:
    """Return whether the bytes of a file tell whether it is a key: no suffix or `.json`, small."""
    suffix = get_suffix(path.rpartition("/")[2])
    return suffix in {"", ".json"} and 0 < size <= _LARGEST_SECRET


def holds_secret(path: str, data: bytes) -> bool:
    """Return whether the bytes of such a file are a private key or that of a service account."""
    if get_suffix(path.rpartition("/")[2]) != ".json":
        return PRIVATE_KEY.match(data) is not None
    return b'"private_key"' in data and b'"type":"service_account"' in data.translate(None, b" \t")


_SHEBANG = re.compile(rb"#!\s*+(?:[^\s/]*+/)*+(?:env\s+(?:-\S+\s+)*)?(?:[^\s/]*+/)*+([A-Za-z]+)")
_INTERPRETERS = load_words("interpreters")
_JSON = re.compile(rb'(?:\{\s*(?:"[^"\n]{0,200}"\s*:|\}\s*\Z)|\[\s*(?:[\[{"]|-?\d+\s*,))')
_MBOX = re.compile(rb"From \S+ .{0,80}\d{4}\r?\n[A-Za-z-]+:")
_MAIL_HEADER = re.compile(
    rb"^(From|To|Subject|Date|Received|Message-ID|MIME-Version):", re.IGNORECASE | re.MULTILINE
)
_FIRST_HEADER = re.compile(rb"[A-Za-z-]+: ")
_MAIL_HEADERS = 3
_TEXT_FORMATS = (
    (_HTML, ".html"),
    (re.compile(rb"<(?:\?xml\b|\w[\w:.-]*\s[^<>]*\bxmlns\b|mxfile\b)"), ".xml"),
    (_JSON, ".json"),
    (_MBOX, ".mbox"),
)


_FRONT_MATTER = re.compile(r"---\n[^\n:]+:|[^\n:]+:.*\n---\s*\Z", re.DOTALL)


def read_front_matter(excerpt: str) -> str | None:
    """Return the properties before the text, without the marks around them, perhaps cut.

    None for an excerpt of Markdown that is of the text.
    """
    if not _FRONT_MATTER.match(excerpt):
        return None
    return excerpt.removeprefix("---\n").rstrip().removesuffix("---")


def detect_content(head: bytes) -> str | None:
    """Return the suffix for what a file begins with; None for binary data that is not known."""
    for magic, suffix in _MAGIC:
        if head.startswith(magic):
            return suffix
    # The names of its parts tell what an archive or a compound file is.
    if head.startswith(_ZIP):
        return next((kind for part, kind in _ZIP_PARTS if part in head), ".zip")
    if head.startswith(_OLE):
        # The first name is that of the file, others may be those of files in it.
        places = ((head.find(name.encode("utf-16-le")), kind) for name, kind in _OLE_STREAMS)
        return min((one for one in places if one[0] >= 0), default=(0, ".doc"))[1]
    if is_text(head):
        return _detect_text(head)
    return next((suffix for magic, suffix in _BINARY_MAGIC if head.startswith(magic)), None)


def is_text(head: bytes) -> bool:
    """Return whether bytes can be text in some encoding: no zeros, hardly a control character."""
    if head.startswith(_BOMS):
        return True
    return not head.translate(None, _NO_CONTROLS)


def _detect_text(head: bytes) -> str:
    """Return the suffix of a text by its first lines."""
    body = head.removeprefix(_BOMS[0]).lstrip()
    shebang = _SHEBANG.match(body)
    if shebang is not None:
        return _INTERPRETERS.get(shebang[1].decode(), ".txt")
    found = (suffix for pattern, suffix in _TEXT_FORMATS if pattern.match(body))
    headers = {match[1].lower() for match in _MAIL_HEADER.finditer(body.partition(b"\n\n")[0])}
    mail = len(headers) >= _MAIL_HEADERS and _FIRST_HEADER.match(body) is not None
    return next(found, ".eml" if mail else ".txt")


MAX_UNKNOWN_BYTES = 256 * 1024
"""The largest text of unknown suffix that is read."""

_MAX_LINE = 2000
_DISGUISES = frozenset({".doc", ".dot", ".xls", ".ppt", ".pot"})
"""Old formats whose suffix programs also give to HTML, RTF, new formats, and texts of their own."""


def detect_media(name: str, size: int, read_head: Callable[[], bytes]) -> str | None:
    """Return the media type by the name of a file, else by its first bytes."""
    named, suffix = detect_media_type(name), get_suffix(name)
    is_sure = named is not None and suffix not in _DISGUISES
    if is_sure or not size or describe_unsupported(suffix) is not None:
        return named
    head = read_head()
    found = None if PRIVATE_KEY.match(head) else detect_content(head)
    media = found and (detect_media_type(f"file{found}") or (PLAIN if is_text(head) else None))
    # The first bytes of a compound file tell hardly what it is.
    if not head or media in {None, DOC}:
        return named
    has_long_lines = max(map(len, head.split(b"\n"))) > _MAX_LINE
    is_doubtful = media == PLAIN and suffix and (size > MAX_UNKNOWN_BYTES or has_long_lines)
    return named if is_doubtful else media


class Mismatch(NamedTuple):
    """What a file is instead of what its name says; `media` is None when no parser reads it."""

    media: str | None
    cause: str


def find_mismatch(media: str, head: bytes) -> Mismatch | None:
    """Return what a file is when it is certainly not of the media type that its name says."""
    suffix = detect_content(head)
    if suffix is None or suffix == ".txt":
        return None
    expected, found = get_media_type(media), detect_media_type(f"file{suffix}")
    if not is_built_in(media):
        return None  # the parser of a plugin judges its files
    text = is_text(head) and suffix not in {".pdf", ".rtf"}
    of_lines = expected.cites in {CitationKind.LINE, CitationKind.CODE}
    vague = suffix in {".zip", ".doc"} and not of_lines
    if found == media or vague or (text and (of_lines or suffix != ".html")):
        return None
    if suffix.startswith(".xls") and expected.suffixes and expected.suffixes[0].startswith(".xls"):
        return None  # their parser tells them apart
    if found is not None and found not in CONTAINERS:
        label = get_media_type(found).label
        return Mismatch(found, f"the file is {label}, not {expected.label}: rename it to {suffix}")
    label, hint = describe_unsupported(suffix) or (f"a {suffix} file", "")
    return Mismatch(None, f"the file is no {expected.label}: {label}{hint and ', '}{hint}")
