"""Splits code of an answer into parts, and compares them with a passage token by token.

A part is a command, a flag, a name, a number, a path or an address. Prompts, operators, quotes,
placeholders, variables and the grammar of a language are none. Comments are kept apart.

Case, quotes and the order of options do not matter. A key whose values the passage shows must have
one of them, and the first two words of a command must stand close together in the passage.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from kebab.rag.checking.markers import Span
from kebab.text.tokenizer import tokenize

_LANGUAGES = {
    "shell": "sh bash zsh fish shell console terminal shell-session shellsession powershell"
    " ps1 cmd",
    "program": "python py python3 pycon javascript js jsx typescript ts tsx go golang rust rs java"
    " kotlin swift c cpp c++ csharp cs php ruby rb perl lua r scala groovy",
    "data": "yaml yml json json5 jsonc toml ini cfg conf properties env dotenv hcl dockerfile"
    " docker makefile nginx",
    "markup": "xml html svg vue xhtml",
    "sql": "sql mysql postgresql psql sqlite plsql",
    "text": "text txt plaintext markdown md output log",
}
_KIND_OF = {name: kind for kind, names in _LANGUAGES.items() for name in names.split()}
_SLASH_COMMENTS = frozenset(("program", ""))
_GRAMMAR_WORDS = (
    "import from def class return if else elif for while in not and or is none true false with as"
    " try except finally raise lambda pass print yield async await const let var function new this"
    " null undefined nil public private static void int string bool float str fn mut func package"
    " then fi do done case esac end begin eof self yes no on off echo cd export cat sudo"
)
_GRAMMAR = frozenset(_GRAMMAR_WORDS.split())
_HOST = r"\(?[\w.-]{1,40}\)?[ \t]?[\w.-]{0,40}@[\w.-]{1,60}[:~\w/. -]{0,80}[$#](?=[ \t])"
_PROMPT = re.compile(
    r"[ \t]*(?:\$(?=[ \t])|%(?=[ \t])|>>>(?=[ \t]|$)|\.\.\.(?=[ \t]|$)|>(?=[ \t])|PS [^>\n]{0,80}>"
    r"|In \[\d{1,4}\]:|Out\[\d{1,4}\]:"
    rf"|{_HOST}"
    r"|(?:(?:mysql|sqlite|redis|mongo)>|[\w-]{1,20}=[#>])(?=[ \t]))[ \t]*"
)
_HASH = re.compile(r"(?:^|(?<=\s))#(?!!)(?P<text>.*)$")
_SLASHES = re.compile(r"(?:^|(?<=\s))//(?P<text>.*)$")
_DASHES = re.compile(r"(?:^|(?<=\s))--(?=\s)(?P<text>.*)$")
_SEMICOLON = re.compile(r"^\s*;(?P<text>.*)$")
_BLOCK = re.compile(r"(?:/\*++(?!/)|<!--)(?P<text>.{0,200}?)(?:(?<!\*)\*++/|-->)")
_PLACEHOLDER = re.compile(
    r"<[^<>\s=/][^<>\n]{0,60}>|\$\{\{[^{}\n]{0,80}\}\}|\{\{[^{}\n]{0,80}\}\}|\$\{[^{}\n]{1,80}\}|\$[A-Za-z_]\w*|\{[A-Za-z_]\w*\}"
    r"|%[A-Z_]{2,40}%|\.\.\.|…"
)
_TEMPLATE = re.compile(r"<[^<>\s=/][^<>\n]{0,60}>|\{\{?[^{}\n]{1,80}\}\}?|\$\{?[A-Za-z_]\w*\}?")
_CAPITALS = re.compile(r"(?<![\w.-])[A-Z]{2,}(?:[-_][A-Z]{2,})+(?![\w=-])")
_COMMAND = re.compile(r"`|\|\|?|&&|;|[.:]\s")
_NAMES = (
    "NAME ID YOUR MY PATH FILE FILENAME HOST HOSTNAME PORT USER USERNAME VERSION NAMESPACE URL URI"
    " IP ADDRESS DIR DIRECTORY FOLDER VALUE KEY TOKEN PASSWORD SECRET PACKAGE IMAGE TAG NUMBER X XX"
    " XXX XXXX POD NODE CONTAINER DEPLOYMENT SERVICE TEXT STRING TARGET SOURCE BRANCH COMMIT REPO"
    " REPOSITORY OPTIONS ARGS COMMAND HERE N DOMAIN EMAIL PROJECT REGION CLUSTER"
)
_PLACEHOLDER_WORDS = frozenset(_NAMES.split())
_EXAMPLE = re.compile(
    r"(?:your|my)[-_]\w[\w.-]*|(?:foo|bar|baz|qux)|(?:[\w-]+\.)?example\.(?:com|org|net)|x{3,}",
    re.IGNORECASE,
)
_ATOM = re.compile(r"[^\s\"'`()\[\]{},;|&<>=\\!?*^“”‘’]+")
_PAIR = re.compile(
    r"(?:^\s*(?:-\s+)?|[{(,]\s*|(?<=\s)(?=--))[\"']?(?P<key>-{0,2}[A-Za-z_][\w./-]*)[\"']?"
    r"(?:\s*:(?!//)\s*|\s*=\s*)[\"']?(?P<value>[^\s\"',{}\[\]<>|&;]+)"
)
_FLAG_VALUE = re.compile(r"(?<=\s)(?P<key>--?[A-Za-z][\w-]*)\s+(?P<value>\d[\w.]*)(?=\s|$)")
_FIXED = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*|(?<![\w.-])[\w.-]++(?=\()|(?:^|(?<=[\s{(,\"']))[\w./-]++(?=[\"']?\s*(?:=(?!=)|:\s|:$))"
)
"""A flag, a called function, or a key."""
_COMMAND_WORDS = 2
"""So many words of a command may be its name."""
_SEGMENT = re.compile(r"\|\|?|&&|;|\$\(")
_BARE = re.compile(r"[A-Za-z][\w+-]*")
_ASSIGNED = re.compile(
    r"^[^\S\n]*(?:const |let |var |val |auto )?(?P<one>[A-Za-z_]\w*)"
    r"(?:\s{0,9}:\s{0,9}[\w\[\], .]{1,99})?\s{0,9}:?=(?!=)"
    r"|\bfor (?P<two>[A-Za-z_]\w*)\b|\bas (?P<three>[A-Za-z_]\w*)\b"
    r"|\b(?:def|func|function|fn|class) (?P<four>[A-Za-z_]\w*)",
    re.MULTILINE,
)


class Comment(Struct, frozen=True):
    """The text of a comment, with its span in the code."""

    text: str
    span: Span


class CodeLine(Struct, frozen=True):
    """The parts of one line of code.

    `pairs` are keys with their values, `heads` the first two words of each command. `values` are
    the parts that a person may choose: no command, flag, key or called function.
    """

    parts: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    heads: tuple[tuple[str, str], ...]
    values: frozenset[str] = frozenset()


class Code(Struct, frozen=True):
    """Code of an answer: its kind of language, its lines and its comments."""

    kind: str
    lines: tuple[CodeLine, ...]
    comments: tuple[Comment, ...]


def classify_language(info: str) -> str:
    """Return the kind of the language that a fence names; empty when it names none."""
    name = info.strip().split()[0].strip("{}.").lower() if info.strip() else ""
    return _KIND_OF.get(name, "")


def parse_code(text: str, kind: str = "") -> Code:
    """Parse code of an answer."""
    if not kind and "</" in text:
        kind = "markup"
    own: set[str] = set()
    if kind == "program":
        # A program defines these names itself.
        own.update(name for one in _ASSIGNED.finditer(text) for name in one.groups() if name)
    lines: list[CodeLine] = []
    comments: list[Comment] = []
    position = 0
    for line in text.split("\n"):
        code, found = _split_comments(line, kind)
        comments += (
            Comment(one.text, (position + one.span[0], position + one.span[1])) for one in found
        )
        parsed = _parse_line(code, kind)
        parts = tuple(part for part in parsed.parts if part not in own)
        lines.append(replace(parsed, parts=parts))
        position += len(line) + 1
    return Code(kind, tuple(line for line in lines if line.parts), tuple(comments))


def is_placeholder(word: str) -> bool:
    """Return whether a word stands for what the reader fills in."""
    if _EXAMPLE.fullmatch(word) or not any(map(str.isalnum, word)):
        return True
    return word.isupper() and any(part in _PLACEHOLDER_WORDS for part in re.split("[-_]", word))


def find_pairs(line: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a line with their values, without dashes and in lower case."""
    for pattern in (_PAIR, _FLAG_VALUE):
        for found in pattern.finditer(line):
            yield found["key"].lstrip("-").lower(), found["value"].rstrip(".:").lower()


def find_templates(line: str) -> Iterator[tuple[frozenset[str], int]]:
    """Yield the words before the first of the places that the reader fills in, and their number."""
    for command in _COMMAND.split(line):
        marked = _CAPITALS.sub("\0", _TEMPLATE.sub("\0", command))
        if count := marked.count("\0"):
            words = marked.partition("\0")[0].lower().split()
            yield frozenset(filter(_BARE.fullmatch, words)), count


def _split_comments(line: str, kind: str) -> tuple[str, list[Comment]]:
    patterns = [_BLOCK]
    if kind == "sql":
        patterns.append(_DASHES)
    elif kind != "markup":
        patterns.append(_HASH)
        if kind in _SLASH_COMMENTS:
            patterns.append(_SLASHES)
        if kind == "data":
            patterns += (_SEMICOLON, _SLASHES)
    found: list[Comment] = []
    for pattern in patterns:
        while one := pattern.search(line):
            text = one["text"]
            end = one.end("text") - (len(text) - len(text.rstrip()))
            found.append(Comment(text.strip(), (one.start(), end)))
            line = line[: one.start()] + " " * len(one[0]) + line[one.end() :]
    return line, found


def _parse_line(line: str, kind: str) -> CodeLine:
    """Return the parts of a line without comments."""
    prompt = _PROMPT.match(line)
    line = line[prompt.end() :] if prompt else line
    line = line.replace("</", "<") if kind == "markup" else line
    plain = line if kind == "markup" else _PLACEHOLDER.sub(" \0 ", line)
    shebang = line.startswith("#!")
    pairs = tuple(
        pair for pair in find_pairs(plain) if "\0" not in pair[1] and not is_placeholder(pair[1])
    )
    parts = () if shebang else tuple(_find_parts(plain))
    heads = tuple(_find_heads(plain)) if kind in {"", "shell"} else ()
    return CodeLine(parts, pairs, heads, frozenset(parts) - _find_fixed(plain, kind))


def _find_parts(line: str) -> Iterator[str]:
    """Yield the parts of a line that must stand in the passage."""
    for found in _ATOM.finditer(line):
        part = found[0].rstrip(".:/-").lstrip(":")
        is_key = line[found.end() - len(found[0].lstrip(":")) + len(part) :].startswith(("=", ":"))
        if part.lower() in _GRAMMAR or (is_placeholder(part) and not (is_key and part.isupper())):
            continue
        if len(part) > 1 or part.isdigit():
            yield part


def _find_heads(line: str) -> Iterator[tuple[str, str]]:
    """Yield the command and the subcommand of each command of a line."""
    for segment in _SEGMENT.split(line):
        words = [word for word in segment.split() if word != "sudo" and "=" not in word]
        one, two = (*words[:2], "", "")[:2]
        is_command = one.islower() and all(map(_BARE.fullmatch, (one, two)))
        is_free = any(word.lower() in _GRAMMAR or is_placeholder(word) for word in (one, two))
        if is_command and not is_free:
            yield one.lower(), two.lower()


def _find_fixed(line: str, kind: str) -> frozenset[str]:
    """Return the parts of a line that are commands, flags, keys or called functions."""
    fixed = {one[0] for one in _FIXED.finditer(line)}
    if not (kind == "data" and line.lstrip().startswith("- ")):
        for segment in _SEGMENT.split(line):
            first, *others = list(_find_parts(segment))[:_COMMAND_WORDS] or [""]
            fixed.update((first, *(word for word in others if word.isalpha())))
    return frozenset(fixed)


_FENCE = re.compile(r"^([ \t>]*(?:`{3,}|~{3,}))[^\n]*$", re.MULTILINE)
_SHORT_FLAGS = re.compile(r"(?<![\w-])-([A-Za-z]{1,5})(?![\w-])")
_CLUSTER = re.compile(r"-[A-Za-z]{1,4}")
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*://")
_PIECES = re.compile(r"[:=,/@+%#]+")
_IDENTIFIERS = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*")
_TEMPLATE_VALUE = re.compile(r"[<{$]|your|my[-_]|\.\.\.")
_KEPT = 2
"""So many of the other parts of a line must stand in a template."""


class CodeIndex:
    """The code tokens of a passage and its headings."""

    def __init__(self, text: str) -> None:
        self._text = _FENCE.sub(r"\1", text).lower().replace("’", "'")
        self._lines = self._text.split("\n")
        self._flags = frozenset("".join(_SHORT_FLAGS.findall(text)))
        self._pairs: dict[str, set[str]] = {}
        for line in self._lines:
            for key, value in find_pairs(line):
                self._pairs.setdefault(key, set()).add(value)
        self._templates = [one for line in text.split("\n") for one in find_templates(line)]
        self._known: dict[str, bool] = {}

    @cached_property
    def _tokens(self) -> frozenset[str]:
        return frozenset(tokenize(self._text))

    def find_missing(self, code: Code, question: "CodeIndex | None" = None) -> list[str]:
        """Return the parts of code that the passage lacks, in order.

        The code may contain values of the question.
        """
        dotted = code.kind in {"program", "data"}
        if question is not None:
            code = self._drop_given(code, question, dotted=dotted)
        found = (one for line in code.lines for one in self._check_line(line, dotted=dotted))
        return list(dict.fromkeys(found))

    def count_found(self, code: Code) -> list[int]:
        """Return for each line of the passage how many parts of the code are in it."""
        parts = {part.lower() for line in code.lines for part in line.parts}
        return [sum(_occurs(part, line) for part in parts) for line in self._lines]

    def _drop_given(self, code: Code, question: "CodeIndex", *, dotted: bool) -> Code:
        """Return code without the values of the question, when the passage has a part of it."""
        lines: list[CodeLine] = []
        for line in code.lines:
            given = {
                part
                for part in line.values
                if not self.contains(part, dotted=dotted)
                and self._contains_pieces(part, dotted=dotted, question=question)
            }
            names = {part.lower() for part in given}
            parts = tuple(part for part in line.parts if part not in given)
            pairs = tuple(
                (key, value)
                for key, value in line.pairs
                if not question.contains(value, dotted=dotted)
            )
            heads = tuple(one for one in line.heads if one[1] not in names)
            lines.append(replace(line, parts=parts, pairs=pairs, heads=heads))
        kept = (part for line in lines for part in line.parts)
        is_shared = any(self.contains(part, dotted=dotted) for part in kept)
        return replace(code, lines=tuple(lines)) if is_shared else code

    def _check_line(self, line: CodeLine, *, dotted: bool) -> Iterator[str]:
        missing = [part for part in line.parts if not self.contains(part, dotted=dotted)]
        yield from missing if missing and not self._fills_template(line, missing) else ()
        for key, value in line.pairs:
            # A key may have any value unless the passage shows other ones.
            known = self._pairs.get(key, {value})
            allows = value in known or any(map(_TEMPLATE_VALUE.match, known))
            allows = allows or any(_occurs(key, one) and _occurs(value, one) for one in self._lines)
            if not allows and value not in {one.lower() for one in missing}:
                yield f"{key}: {value}"
        if not missing:
            for one, two in line.heads:
                windows = (f"{low} {high}" for low, high in pairwise([*self._lines, ""]))
                if not any(
                    _occurs(one, window)
                    and (
                        _occurs(two, window)
                        or (
                            _WORD.fullmatch(two) is not None
                            and tokenize(two)[0] in tokenize(window)
                        )
                    )
                    for window in windows
                ):
                    yield f"{one} {two}"

    def contains(self, part: str, *, dotted: bool) -> bool:
        """Return whether a part occurs; with `dotted`, its names may be apart."""
        key = f"{part}{dotted}"
        if key not in self._known:
            self._known[key] = self._search(part, dotted=dotted)
        return self._known[key]

    def _search(self, part: str, *, dotted: bool) -> bool:
        """Return whether a part, its words or its pieces occur."""
        lower = part.lower()
        if _occurs(lower, self._text):
            return True
        if part.startswith("-"):
            return _CLUSTER.fullmatch(part) is not None and self._flags.issuperset(part[1:])
        if _PATH.match(part):
            return self._contains_path(lower)
        if _WORD.fullmatch(part):
            return tokenize(part)[0] in self._tokens
        if dotted and _IDENTIFIERS.fullmatch(part):
            return all(_occurs(one, self._text, inner=True) for one in lower.split("."))
        return self._contains_pieces(part, dotted=dotted)

    def _contains_pieces(
        self, part: str, *, dotted: bool, question: "CodeIndex | None" = None
    ) -> bool:
        """Return whether each piece of a part occurs, or the question contains it or the part."""
        if question is not None and question.contains(part, dotted=dotted):
            return True
        pieces = [piece for piece in _PIECES.split(part) if piece]
        return len(pieces) > 1 and all(
            is_placeholder(one)
            or self.contains(one, dotted=dotted)
            or (question is not None and question.contains(one, dotted=dotted))
            for one in pieces
        )

    def _contains_path(self, path: str) -> bool:
        """Return whether a path or its folder and its last part occur."""
        path = path.removeprefix("./").rstrip("/")
        if _occurs(path, self._text):
            return True
        cuts = [index for index, sign in enumerate(path) if sign == "/" and index > 0]
        return any(
            _occurs(path[:cut], self._text, ends=True) and _occurs(path[cut + 1 :], self._text)
            for cut in cuts
            if path[cut - 1] not in ":/"
        )

    def _fills_template(self, line: CodeLine, missing: list[str]) -> bool:
        """Return whether what is missing stands where the passage has placeholders.

        A command, its first word, and a key have no placeholder.
        """
        fixed = {*line.parts[:_KEPT], *(key for key, _ in line.pairs)}
        if not all(_PLAIN.fullmatch(part) and part not in fixed for part in missing):
            return False
        words = {part.lower() for part in line.parts if part not in missing}
        return any(
            count >= len(missing) and before and before <= words
            for before, count in self._templates
        )


def _occurs(part: str, text: str, *, inner: bool = False, ends: bool = False) -> bool:
    """Return whether a part occurs as a whole.

    Both are in lower case. With `inner` it may be between dots, with `ends` no path may go on after
    it.
    """
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        goes_on = text[end : end + 1] == "/" and _is_word(text[end + 1 : end + 2])
        if _is_whole(text, start, end, inner=inner) and not (ends and goes_on):
            return True
        start = text.find(part, start + 1)
    return False


def _is_whole(text: str, start: int, end: int, *, inner: bool) -> bool:
    if not text[start].isascii():
        return True
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    if _is_word(before) or _is_word(after[:1]):
        return False
    if before == "-" and (text[start] == "-" or _is_word(text[: start - 1].rstrip("-")[-1:])):
        return False
    if not inner and before == "." and _is_word(text[max(0, start - 2) : start - 1]):
        return False
    joined = "-" if inner else "-.,"
    follows = after[1:].isdigit() if after[:1] == "," else _is_word(after[1:])
    return not (after[:1] and after[0] in joined and follows)


def _is_word(sign: str) -> bool:
    return sign == "_" or (sign.isascii() and sign.isalnum())


def merge_missing(lists: Iterable[list[str]]) -> list[str]:
    """Return what is missing in all of several lists."""
    first, *others = lists
    return [one for one in first if all(one in other for other in others)]
