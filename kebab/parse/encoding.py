"""Detects the encoding of a file, decodes it to NFC text with LF line ends, and finds its escapes.

The lines of the text are the lines of the file for every kind of line end, so citations use its
line numbers. UTF-16 and UTF-32 have a byte order mark, and ISO 2022 has bytes that no other text
has. The other multi-byte codecs accept almost any bytes, so a strict decode proves little. Each
national standard has its frequent characters in one part of its table, so their share identifies
it. For other encodings charset-normalizer gets a sample, because its time grows with the text.

Escapes are what formats write instead of characters, such as `&eacute;`. A function that finds some
yields edits of a part of a text: what a reader sees instead. Line ends in escapes become blanks, so
that the lines stay those of the file.
"""

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from kebab.core.documents import Edit
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.text.language import load_stop_words
from kebab.text.normalize import load_words, split_names

_SAMPLE = 32_768
_SLOW_SAMPLE = 4_096
_TINY_EVIDENCE = 8
_HIGH = bytes(range(0x80, 0x100))
_LETTERS = re.compile(r"[^\W\d_\x00-\x7f]")
_KANA = re.compile("[ぁ-\u30fa]")
_HALF_KANA = re.compile("[\uff66-\uff9d]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[\u4e00-\u9fff]")
_EXCLUDED = load_words("rare_encodings")["codecs"].split()
"""The codecs of several bytes, whose texts were looked for before, and those of few files."""

_WESTERN_LETTERS, _CENTRAL, _BALTIC = map(
    load_words, ("western_letters", "central_letters", "baltic_letters")
)
_ANY_WESTERN = "".join(sorted(set("".join(_WESTERN_LETTERS.values()))))
_OLD_SYSTEMS = ("cp850", "mac_roman", "cp852")
"""The encodings of DOS and of the first Macintosh, which few files have."""
_LANGUAGES = {
    "cp1252": {**_WESTERN_LETTERS, "is": "áðéíóúýþæö", "en": _ANY_WESTERN},
    **dict.fromkeys(("cp1250", "iso8859_2"), _CENTRAL),
    "cp1254": {"tr": "çğıöşüâîû"},
    **dict.fromkeys(("cp1257", "iso8859_13"), _BALTIC),
    **{codec: {**_WESTERN_LETTERS, "en": _ANY_WESTERN} for codec in _OLD_SYSTEMS},
    "cp852": _CENTRAL,
}
"""The letters beyond ASCII of languages, by encoding; of equal texts the first encoding wins.

In the right encoding nearly all letters beyond ASCII are those of one language, and many words are
its stop words. Two encodings that give nearly as likely texts are a matter of doubt.
"""

_LEAST_FIT = 0.9
_MIXED = 0.1
"""What a text in English lacks, whose letters may be those of any Western name."""

_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
_PUNCTUATION = frozenset("‘’‚‛“”„–—…•·€™§©®°«»›‹²³¹½¼¾µ×÷ªº¡¿£¥¢´†‡‰\u00a0\u00ad\u00b6")
_MARKS_IN_WORDS = frozenset("’‘·´\u00ad\u00a0–—")
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = re.compile(r"[^\x00-\x7f]")


class LatinEncoding(NamedTuple):
    """The most likely encoding, and another one that is as likely and gives another text."""

    codec: str
    doubt: str | None = None


@lru_cache(maxsize=4)
def detect_latin_encoding(sample: bytes) -> LatinEncoding | None:
    """Return the encoding of text in Latin script; None for other bytes, and without letters."""
    found: list[tuple[float, str, str]] = []
    for codec in _LANGUAGES:
        text = sample.decode(codec, "replace")
        if codec == "cp1252" and not _list_signs(text):
            return None
        if (score := _score(text, codec)) and text not in [known for _, _, known in found]:
            found.append((score, codec, text))
    if not found:
        return None
    best = max(found, key=lambda one: one[0])
    near = [codec for score, codec, _ in found if codec != best[1] and score > best[0] - 0.05]
    return LatinEncoding(best[1], near[0] if near else None)


def _score(text: str, codec: str) -> float:
    """Return how well a text fits the best language of an encoding; 0 where it fits none."""
    letters = sum(map(str.isalpha, text))
    signs = _list_signs(text)
    if not signs or len(signs) > 0.35 * letters:
        return 0.0
    words = [word.lower() for word in _WORD.findall(text)]
    lists = load_stop_words()
    best = 0.0
    mixed = sum(a.islower() and b.isupper() and b > "\x7f" for a, b in pairwise(text))
    for language, alphabet in _LANGUAGES[codec].items():
        known = sum(sign in alphabet or sign.lower() in alphabet or sign == "İ" for sign in signs)
        fit = (known - mixed) / len(signs)
        if fit >= _LEAST_FIT:
            stops = lists.get(language, frozenset())
            share = sum(word in stops for word in words) / max(len(words), 1)
            best = max(best, fit + share - (_MIXED if language == "en" else 0.0))
    return best - (_MIXED if codec in _OLD_SYSTEMS else 0.0)


def _list_signs(text: str) -> list[str]:
    """Return the letters beyond ASCII, and what stands for them in a wrong encoding."""
    places = (match.start() for match in _FOREIGN.finditer(text))
    return [text[at] for at in places if not _is_common(text, at)]


def _is_common(text: str, at: int) -> bool:
    """Return whether a sign is punctuation of any language, which is not inside of a word."""
    sign = text[at]
    if sign not in _PUNCTUATION:
        return False
    inside = text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
    return not inside or sign in _MARKS_IN_WORDS


def detect_legacy_encoding(data: bytes) -> str | None:
    """Return the codec that decodes the bytes to plausible text, or None."""
    sample = _take_sample(data)
    latin = detect_latin_encoding(sample)
    runs = _HIGH_RUNS.findall(sample)
    # In words of Latin script bytes beyond ASCII mostly stand alone.
    if latin and sum(len(run) == 1 for run in runs) >= 0.7 * len(runs):
        return latin.codec
    for codec, plausible in _MULTI_BYTE:
        text = sample.decode(codec, "replace")
        is_cut = len(sample) < len(data) and text[-1:] == REPLACEMENT  # within a character
        if text.count(REPLACEMENT) - is_cut <= len(text) // 500 and plausible(text):
            return codec
    if latin and latin.codec not in _OLD_SYSTEMS:
        return latin.codec
    if not _list_signs(sample.decode("cp1252", "replace")):
        return "cp1252"
    if len(sample) - len(sample.translate(None, _HIGH)) < _TINY_EVIDENCE:
        return None
    with translate_import_errors("reading old encodings", "charset-normalizer"):
        from charset_normalizer import from_bytes

    best = from_bytes(sample[:_SLOW_SAMPLE], cp_exclusion=_EXCLUDED).best()
    return None if best is None else best.encoding


def _take_sample(data: bytes) -> bytes:
    """Return the bytes from the line of the first byte on that is not ASCII."""
    high = re.search(rb"[\x80-\xff]", data) if len(data) > _SAMPLE else None
    start = data.rfind(b"\n", 0, high.start()) + 1 if high else 0
    return data[start : start + _SAMPLE]


def _is_japanese(text: str) -> bool:
    """Return whether the letters contain the kana of Japanese sentences."""
    return _has_share(len(_KANA.findall(text)), text, 0.2) and not _has_share(
        len(_HALF_KANA.findall(text)), text, 0.2
    )


def _is_of_standard(
    text: str, letters: re.Pattern[str], codec: str, rows: range, share: float
) -> bool:
    """Return whether the letters are the frequent ones of a national standard.

    These are in rows of its table, which are their first bytes. Further letters that vendors added
    to the rows have a low second byte; Big5 has none.
    """
    raw = "".join(letters.findall(text)).encode(codec, "ignore")
    trails = range(0 if codec == "big5" else 0xA1, 0x100)
    pairs = zip(raw[0::2], raw[1::2], strict=False)
    return _has_share(sum(one in rows and two in trails for one, two in pairs), text, share)


def _has_share(count: int, text: str, share: float) -> bool:
    """Return whether `count` is at least this share of the letters beyond ASCII, and not 0."""
    return count > 0 and count >= share * len(_LETTERS.findall(text))


_MULTI_BYTE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("cp949", lambda text: _is_of_standard(text, _HANGUL, "cp949", range(0xB0, 0xC9), 0.88)),
    ("euc_jp", _is_japanese),
    ("cp932", _is_japanese),
    ("gb18030", lambda text: _is_of_standard(text, _HAN, "gb2312", range(0xB0, 0xD8), 0.75)),
    ("big5", lambda text: _is_of_standard(text, _HAN, "big5", range(0xA4, 0xC7), 0.8)),
)


def detect_escaped_encoding(data: bytes) -> str | None:
    """Return the codec of ISO 2022, which switches character sets; None for other bytes."""
    if b"\x1b$" not in data:
        return None
    codecs_of_7_bits = ("iso2022_kr", "iso2022_jp", "iso2022_jp_2", "iso2022_jp_3")
    texts = {one: data.decode(one, "replace") for one in codecs_of_7_bits}
    sound = (one for one, text in texts.items() if not text.isascii() and REPLACEMENT not in text)
    return next(sound, None)


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKS = frozenset({b"", *(mark for mark, _ in _BOMS)})
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\b\t\n\v\f\r\x1b"))
_FEW_CONTROLS = 8
_VALID_PER_BROKEN = 4
_MARK_RUN = re.compile(r"([^\x00-\x7f\w\s]{128,})")
_SAMPLE_STEP = 64
_MARKS_IN_SAMPLE = re.compile(r"[^\x00-\x7f\w\s]{2}")
"""A run of 128 marks is two marks in a row among every 64th character."""
_SURROGATES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Decoded(Struct, frozen=True):
    """The text of a file, its codec, and warnings about lost characters."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, path: str = "", parser: str = "") -> Decoded:
    """Return the text of a file; `path` and `parser` are for the error."""
    raw = decode_raw(data, path, parser)
    return Decoded(normalize_text(raw.text), raw.encoding, raw.warnings)


def decode_raw(data: bytes, path: str = "", parser: str = "") -> Decoded:
    """Return the text of a file with its own line ends, without a byte order mark."""
    encoding, body = _detect_encoding(data)
    if encoding is None:
        raise ParseFailed(path=path, parser=parser, cause="binary data, not text")
    raw = body.decode(encoding, "replace")
    lost = raw.count(REPLACEMENT)
    if lost:
        lost -= body.count(REPLACEMENT.encode(encoding, "ignore") or REPLACEMENT.encode())
    warnings = [f"characters that are not {encoding} were replaced: {lost}"] if lost > 0 else []
    latin = None if encoding.startswith("utf") else detect_latin_encoding(_take_sample(body))
    if latin and latin.doubt and latin.codec == encoding:
        doubt = f"read as {encoding}, {latin.doubt} is as likely"
        warnings.append(f"the encoding is uncertain: {doubt}")
    return Decoded(raw, encoding, tuple(warnings))


def encode_raw(text: str, original: Decoded, data: bytes) -> bytes | None:
    """Return the bytes of a changed text in the form of its file, with the byte order mark of it.

    None when bytes of the file were lost when it was decoded, or when the encoding of the file
    lacks a character of the text.
    """
    try:
        before = original.text.encode(original.encoding)
        after = text.encode(original.encoding)
    except UnicodeEncodeError:
        return None
    mark = data[: len(data) - len(before)]
    return mark + after if data == mark + before and mark in _MARKS else None


def _detect_encoding(data: bytes) -> tuple[str | None, bytes]:
    """Return the codec and the bytes after its mark; no codec for binary data."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return encoding, data[len(bom) :]
    if known := detect_escaped_encoding(data) or _detect_wide_encoding(data[:_SAMPLE]):
        return known, data
    body = data.rstrip(b"\0")
    controls = len(body) - len(body.translate(None, _CONTROLS))
    padding_only = not body and len(data) >= _FEW_CONTROLS
    if padding_only or (controls >= _FEW_CONTROLS and controls > 0.05 * len(body)):
        return None, data
    return _detect_8bit(data)


_WIDE_SHARE = 0.7
_find_binary = re.compile("[\0-\b\x0e-\x1f\ufffd]").search


def _detect_wide_encoding(sample: bytes) -> str | None:
    """Return UTF-16 without a mark, of which most characters have a zero byte; None for others."""
    for codec, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if zeros.count(0) > _WIDE_SHARE * len(zeros):
            text = sample.decode(codec, "replace")
            return None if _find_binary(text, 0, len(text) - 1) else codec
    return None


def _detect_8bit(data: bytes) -> tuple[str, bytes]:
    """Choose between UTF-8, even if slightly broken, and a legacy codec."""
    try:
        data.decode()
    except UnicodeDecodeError as failure:
        if failure.reason == "unexpected end of data":
            return "utf-8", data
    else:
        return "utf-8", data
    text = data.decode(errors="replace")
    broken = text.count(REPLACEMENT)
    valid = len(text) - len(text.encode("ascii", "ignore")) - broken
    if valid >= _VALID_PER_BROKEN * broken:
        return "utf-8", data
    return detect_legacy_encoding(data) or "utf-8", data


def normalize_text(text: str) -> str:
    r"""Return NFC text with `\n` line ends, without zeros and surrogates."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    lines = lines.replace("\0", REPLACEMENT)
    if lines.isascii():
        return lines
    try:
        lines.encode()
        clean = lines
    except UnicodeEncodeError:
        clean = _SURROGATES.sub(REPLACEMENT, lines)
    if not _MARKS_IN_SAMPLE.search(clean[::_SAMPLE_STEP]):
        return unicodedata.normalize("NFC", clean)
    # Normalisation takes quadratic time in a run of combining marks, so it leaves out runs that
    # are longer than those of any script.
    parts = _MARK_RUN.split(clean)
    return "".join(
        part if number % 2 else unicodedata.normalize("NFC", part)
        for number, part in enumerate(parts)
    )


_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6})|[A-Za-z][A-Za-z0-9]{1,31});")
_NESTED_REFERENCE = re.compile(_REFERENCE.pattern.replace("&", "&(?:amp;)?", 1))
"""A reference of text in HTML that is a value of XML, whose `&` is a reference too."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{}~])")
_PAIR = r"[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
_ESCAPE = (
    rf"\\(?:(?P<pair>u{_PAIR})|u(?P<four>[0-9A-Fa-f]{{4}})|u\{{(?P<braced>[0-9A-Fa-f]{{1,6}})\}}"
    r"|U(?P<eight>[0-9A-Fa-f]{8})|x(?P<two>[0-9A-Fa-f]{2})|(?P<sign>[\"\\/bfnrt]))"
)
_ONE = re.compile(_ESCAPE)
_RUN = re.compile(f"(?:{re.sub('[?]P<[a-z]+>', '?:', _ESCAPE)})+")
_BYTES = re.compile(r"(?:\\u00[c-fC-F][0-9a-fA-F](?:\\u00[89abAB][0-9a-fA-F])+)+")
_FIRST_BYTE, _FIRST_SIGN = 0xC3, 0xA0
"""The byte before that of most Western letters; bytes from 0x80 below a sign are controls."""
_STRING = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"', re.DOTALL)
_SIGNS = {'"': '"', "\\": "\\", "/": "/"}
_MANUAL_ESCAPE = re.compile(
    r"\\(?:f(?:\(..|\[[^\]\n]*\]|.)|s[-+]?\d|\((..)|\[([^\]\n]{1,20})\]|([-e ~&:%|^/,]))"
)
_MANUAL_POINT = re.compile(r"\\\[u(?!D[89A-F])([0-9A-F]{4,5})\]")
_MANUAL_MARKS = dict(zip(":'`^,~", "\u0308\u0301\u0300\u0302\u0327\u0303", strict=True))
_MANUAL_SIGNS = load_words("manual_signs")
"""What a reader of a manual page sees of an escape by its name; fonts and sizes are nothing."""
_SURROGATE_POINTS = range(0xD800, 0xE000)
_MAX_CODE_POINT = 0x10FFFF
_SOFT_HYPHEN = "\u00ad"


def find_references(
    text: str, start: int, end: int, pattern: re.Pattern[str] = _REFERENCE
) -> Iterator[Edit]:
    """Yield the character references of HTML and XML."""
    if text.find("&", start, end) < 0:
        return
    for match in pattern.finditer(text, start, end):
        seen = _REFERENCE.sub(_read_reference, _REFERENCE.sub(_read_reference, match[0]))
        if seen != match[0]:
            yield Edit(*match.span(), _clean(seen))


def _read_reference(match: re.Match[str]) -> str:
    """Return the signs of a reference; a name that only begins with one of HTML stays."""
    from html import unescape

    seen = unescape(match[0])
    return match[0] if len(seen) > 1 and seen.endswith(";") else seen


find_nested_references = partial(find_references, pattern=_NESTED_REFERENCE)


def find_letter_references(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the references to letters in plain text: what is no letter may be meant as it is."""
    return (one for one in find_references(text, start, end) if one.text.isalpha())


def find_markdown_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the character references and the signs behind a backslash in text of Markdown.

    The sign of a table stays escaped.
    """
    for match in _BACKSLASH.finditer(text, start, end):
        yield from find_references(text, start, match.start())
        yield Edit(*match.span(), match[1])
        start = match.end()
    yield from find_references(text, start, end)


def find_html_edits(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the comments of HTML, and the character references outside of them."""
    for comment in _COMMENT.finditer(text, start, end):
        yield from find_references(text, start, comment.start())
        yield Edit(*comment.span())
        start = comment.end()
    yield from find_references(text, start, end)


_XML_TAG = re.compile(
    r"<!--.*?-->|<!DOCTYPE(?:[^<>\[]|\[[^\]]*\])*>|<[/?!]?(?:[\w.-]+:)?([A-Za-z][\w.-]*)[^<>]*>",
    re.DOTALL,
)
_INLINE = split_names(load_words("xml_names")["inline"])
"""The elements of texts in XML within a line, which end no word."""


def find_tags(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the tags and comments of a text in XML, and the character references between them."""
    for tag in _XML_TAG.finditer(text, start, end):
        yield from find_references(text, start, tag.start())
        yield Edit(*tag.span(), "" if tag[1] in _INLINE else " ")
        start = tag.end()
    yield from find_references(text, start, end)


def find_string_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes in strings with double quotes."""
    if text.find("\\", start, end) >= 0:
        for string in _STRING.finditer(text, start, end):
            yield from find_escapes(text, *string.span())


def find_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes of JSON and the languages like it."""
    if text.find("\\", start, end) < 0:
        return
    for run in _RUN.finditer(text, start, end):
        yield Edit(*run.span(), _ONE.sub(_read_escape, _BYTES.sub(_read_bytes, run[0])))


def find_json_escapes(text: str, start: int, end: int) -> Iterable[Edit]:
    """Return the escapes of JSON, and the character references of HTML in its values."""
    return sorted((*find_escapes(text, start, end), *find_references(text, start, end)))


def find_manual_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes of a manual page: fonts, signs, and letters with accents."""
    for match in _MANUAL_ESCAPE.finditer(text, start, end):
        name = match[1] or match[2] or ""
        seen = _MANUAL_SIGNS.get(name or match[3], match[0] if name else "")
        if name[1:].isalpha() and (mark := _MANUAL_MARKS.get(name[0])):
            seen = unicodedata.normalize("NFC", name[1:] + mark)
        yield Edit(*match.span(), _MANUAL_POINT.sub(lambda one: _clean(chr(int(one[1], 16))), seen))


def find_code_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes of code that stand for characters beyond ASCII."""
    if text.find("\\u", start, end) >= 0:
        for edit in find_escapes(text, start, end):
            if not edit.text.isascii():
                yield edit


def _read_bytes(match: re.Match[str]) -> str:
    """Return the characters whose bytes of UTF-8 were escaped one by one, as Facebook does.

    Two characters of Latin script that could be such bytes stay as they are.
    """
    raw = bytes.fromhex(match[0].replace("\\u00", ""))
    if raw[0] == _FIRST_BYTE or len(raw) > 3 or min(raw[1:]) < _FIRST_SIGN:  # noqa: PLR2004 - two characters
        with suppress(UnicodeDecodeError):
            return raw.decode()
    return match[0]


def _read_escape(match: re.Match[str]) -> str:
    """Return the character of an escape; the escape where there is no such character."""
    if match["sign"]:
        return _SIGNS.get(match["sign"], " ")
    if match["pair"]:
        high, low = int(match["pair"][1:5], 16), int(match["pair"][7:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    point = int(match["four"] or match["braced"] or match["eight"] or match["two"], 16)
    is_character = point not in _SURROGATE_POINTS and point <= _MAX_CODE_POINT
    return _clean(chr(point)) if is_character else match[0]


def _clean(seen: str) -> str:
    """Return characters without controls and soft hyphens; blanks are plain."""
    return "".join(
        " " if char.isspace() or char < " " or char == "\x7f" else char
        for char in seen
        if char != _SOFT_HYPHEN
    )
