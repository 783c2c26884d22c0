"""Contains the rules about brackets, code fences, and Korean and Japanese punctuation."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, Span, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import (
    Rule,
    build_finding,
    is_copied,
    is_cut_cell,
    is_title_of_change,
)
from kebab.wire.review import EditName, SeverityName

_ROUND, _SQUARE = ("(（", ")）"), ("[［", "]］")
_QUOTES = ("「」", "『』", "【】", "《》")
_KINDS = (_ROUND, _SQUARE, *_QUOTES)
_OPENERS = {sign: pair[0][0] for pair in _KINDS for sign in pair[0]}
_CLOSERS = {sign: pair[0][0] for pair in _KINDS for sign in pair[1]}
"""The kind of each bracket, which is the bracket that opens it; width does not matter."""

_BRACKET = re.compile(r"[()\[\]（）［］\u300a-\u300f【】]")
_WIDE_BRACKET = re.compile(r"[（）［］\u300a-\u300f【】]")
_SOLVED = re.compile(
    r"[:;=8xX][-^'oc]?[()\[\]](?!\w)|[()][-^']?[:;](?!\w)"  # emoticons
    r"|(?<![\w(])(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5}|[\u2460-\u2473가-힣])[)）]"  # a)
    r"|[\[(\]][^()\[\]\n]{1,40}(?:[,;]|\.\.|…)[^()\[\]\n]{1,60}[\])]"  # intervals
    r"|\][^()\[\]\n]{1,40}[,;][^()\[\]\n]{1,40}\["
    r"|[\"'‘“「/|][()\[\]（）]{1,2}[\"'’”」/|]"  # quoted
    r"|\\[()\[\]]|[(\[]['\"’”](?=\s)|\(\?|(?:\^|\\e|\\x1b|\\033)\["  # of patterns
    r"|(?<![*_])[*_]++[()\[\]][*_]++"  # a bracket in bold
    r"|(?<=[A-Za-z][+-])[\[\]]"  # a key, as in `Ctrl+]`
    r"|(?<=\s)[()\[\]（）](?=\s)"  # a word, as in `unexpected ) at 17`
    r"|(?<!\S)(?:\d{1,3}\.|[*†‡]{1,3}|[*_]{1,3}[^*_()\[\]\n]{1,20}[*_]{1,3})\)"  # 1.) and notes
    r"|\((?=\[?#\d+ ?\[#)|\((?=[^\n]{0,60}(?:…|\.\.\.[\"'”’]))"  # titles that were cut
)
_CODE = re.compile(
    r"`|\{\{|\}\}|\{%|<%|\$\(|\\\\"
    r"|\*\*--?\w"  # the synopsis of a command
    r"|[{};][^\S\n]*$|=>|->\s*\w+\(|^[^\S\n]*//|[\u2500-\u257f]",
    re.MULTILINE,
)
"""Signs of code or templates in what should be prose."""

_REACH = 12
"""How many paragraphs later a bracket may be closed, as around a list or an example."""


_CODE_REACH = 2


class _Open(NamedTuple):
    """A bracket without a partner."""

    kind: str
    offset: int
    block: int
    opens: bool
    is_code: bool
    """Whether its paragraph has signs of code; then it may only be the partner of another."""


_RAW_STRING = re.compile(r'R"[^\s()]{0,16}\(')
"""The first line of a text that is included in code of C++."""


class UnbalancedBracket:
    """A bracket in a paragraph has no partner.

    The reader cannot tell where the remark ends, and in Markdown a link may be broken. Code,
    emoticons, list signs such as `a)`, intervals such as `[0, 1)`, and brackets that close some
    paragraphs later are not reported. Add the missing bracket, or delete this one.
    """

    id: ClassVar[str] = "unbalanced-bracket"
    kind: ClassVar[str] = "punctuation"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Restart the server (and wait for it."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the brackets without a partner."""
        del surroundings
        if document.source.media != MARKDOWN or _RAW_STRING.match(document.text):
            return
        prose = document.prose
        if _is_balanced_by_line(prose):
            return
        single: list[_Open] = []
        for number, (start, end) in enumerate(document.paragraphs):
            block = prose[start:end]
            if _looks_balanced(block):
                continue
            lone = _find_lone(block)
            if not lone:
                continue
            is_code = _CODE.search(document.text, start, end) is not None
            # an address may reach over the bracket behind it
            lone &= _find_lone(document.text[start:end])
            single += [
                _Open(kind, start + offset, number, opens, is_code) for kind, offset, opens in lone
            ]
        if single and is_copied(document):
            return
        for one in _drop_distant_pairs(single):
            around = document.text[max(0, one.offset - 1) : one.offset + 2]
            if one.is_code:
                continue
            if around[-2:] == "[<" or around[:2] == ">]":
                continue  # a tag begins or ends the text of a link
            if is_cut_cell(document, one.offset) or is_title_of_change(document, one.offset):
                continue
            word = "closed" if one.opens else "opened"
            bracket = prose[one.offset]
            reason = f"the bracket is never {word}: {bracket}"
            yield build_finding(self, one.offset, one.offset + 1, reason)


_NO_BRACKET = bytes(set(range(256)) - set(b"()[]\n"))


def _is_balanced_by_line(prose: str) -> bool:
    """Return whether each bracket has its partner in its line, as nearly always; this is fast."""
    signs = prose.encode("utf-8", "replace").translate(None, _NO_BRACKET)
    for pair in (b"()", b"[]", b"()"):
        signs = signs.replace(pair, b"")
    return not signs.strip() and (prose.isascii() or not _WIDE_BRACKET.search(prose))


def _looks_balanced(block: str) -> bool:
    """Return whether a paragraph has as many brackets that open as that close; this is fast."""
    return (
        block.count("(") == block.count(")")
        and block.count("[") == block.count("]")
        and (block.isascii() or not _WIDE_BRACKET.search(block))
    )


def _find_lone(block: str) -> set[tuple[str, int, bool]]:
    """Return the brackets of a paragraph without a partner in every reading of it."""
    lone = _match_brackets(block)
    if not lone:
        return lone
    return lone & _match_brackets(_SOLVED.sub(lambda found: " " * len(found[0]), block))


def _match_brackets(block: str) -> set[tuple[str, int, bool]]:
    """Return the kind, the offset and the direction of each bracket without a partner."""
    stacks: dict[str, list[int]] = {}
    lone = set()
    for found in _BRACKET.finditer(block):
        sign = found[0]
        if sign in _OPENERS:
            stacks.setdefault(_OPENERS[sign], []).append(found.start())
        elif stack := stacks.get(_CLOSERS[sign]):
            stack.pop()
        else:
            lone.add((_CLOSERS[sign], found.start(), False))
    return lone | {(kind, offset, True) for kind, stack in stacks.items() for offset in stack}


def _drop_distant_pairs(single: list[_Open]) -> list[_Open]:
    """Return the brackets without those that a later paragraph closes."""
    kept: list[_Open] = []
    for one in sorted(single, key=lambda one: one.offset):
        partner = next(
            (
                index
                for index in range(len(kept) - 1, -1, -1)
                if not one.opens
                and kept[index].opens
                and kept[index].kind == one.kind
                and one.block - kept[index].block
                <= (_CODE_REACH if one.is_code or kept[index].is_code else _REACH)
            ),
            None,
        )
        if partner is None:
            kept.append(one)
        else:
            del kept[partner]
    return kept


_FENCES = (re.compile(r"(```+)([^\n]*)"), re.compile(r"(~~~+)([^\n]*)"))
_INFO = re.compile(r"[\w.+#{}=\"': -]*+")
"""What stands behind tildes that are no drawing."""
_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?")


class UnclosedFence:
    """A code fence is never closed.

    Everything after it, to the end of the file, is shown as code. Add a line with the same fence
    behind the code.
    """

    id: ClassVar[str] = "unclosed-fence"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "Run this:\n\n```sh\nmake\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the last fence when nothing closes it."""
        del surroundings
        text = document.text
        if document.source.media != MARKDOWN or ("```" not in text and "~~~" not in text):
            return
        opened = _find_open_fence(text)
        if opened is not None:
            yield build_finding(self, *opened, "the code fence is never closed")


_CLOSING_INDENT = 3
"""So much deeper than the fence that opens a block may the one be that closes it."""


def _find_open_fence(text: str) -> Span | None:
    opened: re.Match[str] | None = None
    most = 0
    fences = [found for pattern in _FENCES for found in pattern.finditer(text)]
    for found in sorted(fences, key=re.Match.start):
        line = text.rfind("\n", 0, found.start()) + 1
        if not _BEFORE_FENCE.fullmatch(text, line, found.start()):
            continue
        fence, info = found.groups()
        if opened is None:
            if "`" not in info if fence[0] == "`" else _INFO.fullmatch(info):
                opened, most = found, found.start() - line + _CLOSING_INDENT
        elif found.start() - line > most:
            continue  # a line of the code
        elif fence.startswith(opened[1]) and not info.strip():
            opened = None
    return opened.span(1) if opened else None


_HANGUL = "[가-힣]"
_KANA = "[ぁ-\u3096ァ-\u30faー]"
_HAN_KANA = "[ぁ-\u3096ァ-\u30faー々\u4e00-\u9fff]"
_PARTICLES = "을|를|에서|으로|에게|까지|부터|에는|에서는|으로는|에서도"
_FUTURE_STEMS = "[할될을볼갈올쓸줄킬릴낼알들살]"
_HAS_HANGUL = re.compile(_HANGUL)
_HAS_KANA = re.compile(_KANA)


class _Pattern(NamedTuple):
    """What a rule looks for; the group `at` is replaced by `text`."""

    regex: re.Pattern[str]
    reason: str
    text: str


def _compile(regex: str, reason: str, text: str) -> _Pattern:
    return _Pattern(re.compile(regex), reason, text)


def _find(rule: Rule, document: ReviewDocument, patterns: Iterable[_Pattern]) -> Iterator[Finding]:
    """Yield what the patterns find in prose, but not where code stands in the gap."""
    prose, text = document.prose, document.text
    for pattern in patterns:
        for found in pattern.regex.finditer(prose):
            start, end = found.span("at")
            is_kept = prose[start:end] == text[start:end] and not _is_in_table(document, start)
            if is_kept and _is_line_of_east(prose, start):
                edit: EditName = (
                    "insert" if start == end else "replace" if pattern.text else "delete"
                )
                fix = Fix(pattern.text, safe=True)
                yield build_finding(rule, start, end, pattern.reason, edit=edit, fix=fix)


_DENSE = re.compile("[ぁ-ヿ々\u3400-\u9fff가-힣]")
_LATIN = re.compile("[A-Za-z]")
_FIELD = re.compile(r"[A-Za-z-]+:[ ]")


def _is_line_of_east(prose: str, offset: int) -> bool:
    """Return whether a line is in Korean or Japanese, and does not only speak about words of it."""
    end = prose.find("\n", offset)
    line = prose[prose.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(prose)]
    return not _FIELD.match(line) and _is_mostly_dense(line)


def _is_mostly_dense(text: str) -> bool:
    return _LATIN_PER_DENSE * len(_DENSE.findall(text)) >= len(_LATIN.findall(text))


_LATIN_PER_DENSE = 2
_SAMPLE = 8_000


def _is_in_table(document: ReviewDocument, offset: int) -> bool:
    """Return whether a line is a row, where blanks align columns and commas are short."""
    text = document.text
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line.lstrip(" >\t").startswith("|")


_KOREAN_SPACING = (
    _compile(
        rf"[.?!](?<={_HANGUL}[다요죠까].)(?P<at>)(?={_HANGUL}{{2}})",
        "a space is missing after the sentence",
        " ",
    ),
    _compile(
        rf",(?<={_HANGUL},)(?P<at>)(?={_HANGUL}{{2}})", "a space is missing after the comma", " "
    ),
    _compile(
        rf"(?P<at> (?<={_HANGUL} ))(?:{_PARTICLES})(?=[ ,.\n])",
        "the particle belongs to the word before it",
        "",
    ),
    _compile(
        rf"수(?<={_FUTURE_STEMS}(?P<at>)수)(?= ?(?:있|없|도 |는 ))",
        "a space is missing before the noun `수`",
        " ",
    ),
    _compile(rf"(?P<at>  (?<={_HANGUL}  ) *)(?={_HANGUL})", "there is more than one space", " "),
)


class KoreanSpacing:
    """A space is missing or too many in Korean text.

    A sentence and a comma are followed by a space, a particle such as `를` follows its word
    without one, the dependent noun `수` stands alone as in `할 수 있다`,
    and one space is enough between two words. Table rows and code are not reported. Apply the fix.
    """

    id: ClassVar[str] = "korean-spacing"
    kind: ClassVar[str] = "spacing"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "파일을 엽니다.그리고 닫습니다."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the wrong spaces."""
        del surroundings
        if _is_korean(document):
            yield from _find(self, document, _KOREAN_SPACING)


_KOREAN_PUNCTUATION = (
    _compile(
        rf"(?P<at> (?<={_HANGUL} ) *)(?:[,!?]|\.(?!\.))(?=\s|\Z)", "a space before the sign", ""
    ),
    _compile(rf"(?P<at>。(?<={_HANGUL}。) ?)(?=\S)", "Korean sentences end with `.`", ". "),
    _compile(rf"(?P<at>。(?<={_HANGUL}。))(?=\s|\Z)", "Korean sentences end with `.`", "."),
    _compile(rf"(?P<at>[，、](?<={_HANGUL}.) ?)(?={_HANGUL})", "the Korean comma is `,`", ", "),
    _compile(rf"\.(?<={_HANGUL}[다요]\.)(?P<at>\.)(?=\s|\Z)", "the full stop stands twice", ""),
    _compile(rf",(?<={_HANGUL},)(?P<at> ?,)(?=\s)", "the comma stands twice", ""),
)


class KoreanPunctuation:
    """A punctuation sign is wrong in Korean text.

    Korean uses `.` and `,` and no space before them; signs that stand twice are left over from
    editing. An ellipsis, table rows and code are not reported. Apply the fix.
    """

    id: ClassVar[str] = "korean-punctuation"
    kind: ClassVar[str] = "punctuation"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "파일을 엽니다 ."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the wrong signs."""
        del surroundings
        if _is_korean(document):
            yield from _find(self, document, _KOREAN_PUNCTUATION)


_JAPANESE_SPACING = (
    _compile(rf"(?<={_HAN_KANA})(?P<at>[ \u3000]+)(?=[、。])", "a space before the sign", ""),
    _compile(rf"(?<=[、。])(?P<at> +)(?={_HAN_KANA})", "a space after the sign", ""),
)


class JapaneseSpacing:
    """A space stands beside a Japanese punctuation sign.

    The signs `、` and `。` are as wide as a letter and have their space within. Table rows
    and code are not reported. Delete the space.
    """

    id: ClassVar[str] = "japanese-spacing"
    kind: ClassVar[str] = "spacing"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "ファイルを開きます 。"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the spaces."""
        del surroundings
        if _is_japanese(document):
            yield from _find(self, document, _JAPANESE_SPACING)


_JAPANESE_PUNCTUATION = (
    _compile(rf"(?<={_KANA})(?P<at>, ?)(?={_HAN_KANA})", "the Japanese comma is `、`", "、"),
    _compile(
        rf"(?<={_KANA})(?P<at>\. ?)(?={_HAN_KANA})",
        "Japanese sentences end with `。`",
        "。",
    ),
    _compile(rf"(?<={_KANA})(?P<at>\.)(?=\n|\Z)", "Japanese sentences end with `。`", "。"),
    _compile(r"(?<!。)。(?P<at>。)(?!。)", "the full stop stands twice", ""),
    _compile(r"(?<!、)、(?P<at>、)(?!、)", "the comma stands twice", ""),
    _compile(r"(?<!。)。(?P<at>、)", "a comma after the full stop", ""),
)


class JapanesePunctuation:
    """A punctuation sign is wrong in Japanese text.

    Japanese uses `、` and `。` in full width; signs that stand twice are left over from
    editing. Code, addresses and table rows are not reported. Apply the fix.
    """

    id: ClassVar[str] = "japanese-punctuation"
    kind: ClassVar[str] = "punctuation"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "ファイルを開きます.それを閉じます。"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the wrong signs."""
        del surroundings
        if _is_japanese(document):
            yield from _find(self, document, _JAPANESE_PUNCTUATION)


_MIXED = (
    _compile(r"（[^()（）\n]{0,80}(?P<at>\))", "the brackets differ in width", "）"),
    _compile(r"\([^()（）\n]{0,80}(?P<at>）)", "the brackets differ in width", ")"),
)


class MixedWidthBracket:
    """A bracket in full width is paired with one in half width.

    The pair looks uneven, and a search for either finds half of it. Markdown links and code are not
    reported. Write both in the same width.
    """

    id: ClassVar[str] = "mixed-width-bracket"
    kind: ClassVar[str] = "punctuation"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "設定（既定値)を開きます。"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the brackets that close a pair in another width."""
        del surroundings
        if "（" in document.text or "）" in document.text:
            yield from _find(self, document, _MIXED)


def _is_korean(document: ReviewDocument) -> bool:
    """Return whether a text is in Korean, and not only about it."""
    return (
        not document.text.isascii()
        and _HAS_HANGUL.search(document.prose) is not None
        and _is_mostly_dense(document.prose[:_SAMPLE])
    )


def _is_japanese(document: ReviewDocument) -> bool:
    """Return whether a text is in Japanese, not in Chinese or about Japanese."""
    return (
        not document.text.isascii()
        and _HAS_KANA.search(document.prose) is not None
        and _is_mostly_dense(document.prose[:_SAMPLE])
    )
