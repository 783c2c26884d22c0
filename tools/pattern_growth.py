"""Finds regular expressions whose time grows faster than the text that they search.

    python -m tools.pattern_growth
    python -m tools.pattern_growth --chars 64000 --name kebab.text

Every pattern of the code base is found: compiled ones in modules, classes and containers, and the
first argument of each call of `re` in the source, evaluated in its module. For each repetition
without a small limit the parse tree gives texts that keep the pattern searching: what precedes the
repetition, repeated together with what it repeats. The time of a doubled text may be at most
`MOST_GROWTH` times as long. Times are those of the processor; the shortest of some runs counts.
"""

import argparse
import ast
import importlib
import inspect
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, takewhile
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from kebab.text.lazy_pattern import LazyPattern

MOST_GROWTH = 2.5
"""How many times as long a text of double length may take."""

_LOOKS = 6
"""A pattern grows too fast when every one of so many looks finds that."""

CHARS = 4_000
_QUICK_S = 0.0004
"""A pattern that is faster at the first length passes: a quadratic one takes a millisecond."""
_SLOW_S = 0.1
"""A search that needs more processor time is given up and counts as endless."""
_RUNS = 3
_SMALL_LIMIT = 16
"""A repetition with a smaller limit costs a constant factor."""
_MOST_UNITS = 3
_MOST_DEPTH = 12
_CANDIDATES = " a\nA0_-./<\"'`[(|*#\\가ß"
_MOST_NESTED = 3
_METHODS = ("search", "sub", "subn", "findall", "finditer", "split", "match", "fullmatch")
_ANCHORED = frozenset({"match", "fullmatch"})

AT_ONE_PLACE = {
    "kebab.cli.integrations.json_entry:_COMMENTS_OF_LINE": "match",
    "kebab.core.content:_HTML": "match",
    "kebab.core.content:_TEXT_FORMATS": "match",
    "kebab.parse.asciidoc:_REVISION": "match",
    "kebab.parse.code:_DOC_STRING": "match",
    "kebab.parse.code:_DEFINITIONS": "match",
    "kebab.rag.checking.facts:_FILE": "fullmatch",
    "kebab.rag.checking.facts:_PATH": "fullmatch",
    "kebab.text.sentences:_COMMENT": "match",
    "kebab.text.sentences:_HEADING": "match",
    "kebab.text.sentences:_ITEM": "match",
    "kebab.text.sentences:_LABEL": "match",
    "kebab.text.sentences:_RULE": "match",
    "kebab.text.sentences:_UNDERLINE": "match",
    "kebab.text.sentences:_WITHOUT_CONTENT": "match",
}
"""Patterns in containers, and in arguments of helpers, that are matched at one place of a text."""

SHORT_TEXTS = {
    "kebab.cli.integrations.json_entry:_TOKENS": "settings of a client of this user",
    "kebab.cli.render.excerpt:_NOISE": "a passage, whose length the chunker limits",
    "kebab.config.settings_file:_SECTION": "lines of the settings file of this user",
    "kebab.core.content:_TEXT_FORMATS": "the first bytes of a file",
    "kebab.core.members:_EXPORT": "at most `_MAX_NAME` characters",
    "kebab.embed.catalogue:_FACTS": "descriptions in an installed package",
    "kebab.parse.content_lines:_QUOTED_PRINTABLE": "at most `_HEAD_BYTES` bytes",
    "kebab.parse.html:_TOKEN": "HTML as lexbor writes it, with `<` escaped and all tags closed",
    "kebab.parse.html_page:_RAW": "HTML as lexbor writes it, with all elements closed",
    "kebab.parse.html_page:_RAW_OR_SPAN": "HTML as lexbor writes it, with all elements closed",
    "kebab.parse.markdown_parts:_MAIL_START": "at most `_MAX_MAIL_NAME` characters",
    "kebab.rag.question_terms:_ENDS_SENTENCE": "at most `_LOOK_BEHIND` characters",
    "kebab.rag.quote_units:_CODE_DIRECTIVE": "a passage, whose length the chunker limits",
    "kebab.rag.quote_units:_FENCE": "a passage, whose length the chunker limits",
    "kebab.review.rules.markup:_CODE_SPAN": "at most `_LONGEST_ROW` characters",
    "kebab.review.rules.prose:_OPENS": "at most 24 characters",
    "kebab.review.rules.spelling:_COMMENT": "at most `_LONGEST_LINE` characters",
    "kebab.review.rules.spelling:_OPENS": "about `_LONGEST_RUN` characters",
    "kebab.review.rules.spelling:_PLAIN_RUN": "a word, with `_LONGEST_RUN` characters on each side",
    "kebab.review.rules.structure:_SYMBOL": "at most `_LONGEST_SYMBOL` characters",
    "kebab.search.code_order:_ASIDE_PATH": "a path",
    "kebab.store.objects:_ATTEMPTS": "the message of a fault of the library",
    "kebab.server.rendering:_PASSAGE_WITHOUT_ID": "HTML of the page, with all tags closed",
    "kebab.search.query_parser:_IDENTIFIER": "at most `_LONGEST_IDENTIFIER` characters",
}
"""Patterns that grow too fast but only see short texts, or texts in another form, and why."""

Pattern = re.Pattern[Any]
Tree = Any


@dataclass(frozen=True, slots=True)
class Site:
    """A pattern, where it was found, and the method by which it is used."""

    place: str
    pattern: Pattern
    method: str


@dataclass(frozen=True, slots=True)
class Slow:
    """A pattern that grows too fast: the text that shows it, and the seconds of two lengths."""

    site: Site
    text: str
    chars: int
    seconds: tuple[float, float]

    def __str__(self) -> str:
        """Return one line."""
        before, after = self.seconds
        took = f"{before * 1e3:.1f} ms, doubled {after * 1e3:.1f} ms"
        return f"{self.site.place}: {took} at {self.chars:,} of {self.text[:60]!r}"


class TooSlowError(Exception):
    """A search exceeded its processor time."""


def find_sites(package: str = "kebab") -> tuple[list[Site], list[str]]:
    """Return every pattern of a package, and the calls of `re` whose pattern is not known."""
    found: dict[tuple[Any, int, str], Site] = {}
    unknown: list[str] = []
    for module in _import_modules(package):
        source = inspect.getsource(module)
        patterns = [*_list_values(module), *_list_calls(module, ast.parse(source), unknown)]
        for name, pattern, method in patterns:
            place = f"{module.__name__}:{name}"
            site = Site(place, pattern, AT_ONE_PLACE.get(place, method))
            found.setdefault((pattern.pattern, pattern.flags, site.method), site)
    return [*found.values()], unknown


def _import_modules(package: str) -> Iterator[ModuleType]:
    """Yield the modules of a package; those of extras that are not installed are left out."""
    root = importlib.import_module(package)
    yield root
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):
                yield importlib.import_module(found.name)


def _list_values(module: ModuleType) -> Iterator[tuple[str, Pattern, str]]:
    """Yield the compiled patterns that a module holds, also in containers and classes."""
    source = inspect.getsource(module)
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ != module.__name__:
            continue
        if patterns := [*_iterate_patterns(value, 0)]:
            uses = re.findall(rf"\b{re.escape(name)}\.({'|'.join(_METHODS)})\b", source)
            yield from ((name, pattern, _choose_method(uses)) for pattern in patterns)


def _choose_method(uses: Iterable[str]) -> str:
    """Return the slowest method of some uses; without any a pattern may search everywhere."""
    known = set(uses)
    if not known or known - _ANCHORED:
        return "finditer"
    return "fullmatch" if "fullmatch" in known else "match"


def _iterate_patterns(value: Any, depth: int) -> Iterator[Pattern]:
    """Yield the patterns within a value: a container, a class, a record or an instance."""
    if isinstance(value, LazyPattern):
        value = re.compile(value.pattern, value.flags)
    if isinstance(value, re.Pattern):
        yield value
        return
    if depth > _MOST_NESTED or isinstance(value, str | bytes | ModuleType):
        return
    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = chain(value, value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = value
    elif isinstance(value, partial):
        parts = (*value.args, *value.keywords.values())
    elif type(value).__module__.startswith("kebab") or inspect.isclass(value):
        slots = getattr(type(value), "__slots__", ()) or ()
        names = (slots,) if isinstance(slots, str) else slots
        own = (getattr(value, name, None) for name in names if not inspect.isclass(value))
        parts = chain(getattr(value, "__dict__", {}).values(), own)
    for part in list(parts):
        yield from _iterate_patterns(part, depth + 1)


def _list_calls(
    module: ModuleType, tree: ast.AST, unknown: list[str]
) -> Iterator[tuple[str, Pattern, str]]:
    """Yield the patterns of the calls of `re`; what depends on a local value is unknown."""
    at_import = {id(node) for node in _iterate_import_nodes(tree)}
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call)
            and id(node) not in at_import
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*_METHODS, "compile")
            and node.args
        ):
            continue
        flags = [one for one in (*node.args, *(k.value for k in node.keywords)) if _is_flag(one)]
        try:
            text = _evaluate(module, node.args[0])
            pattern = re.compile(text, sum(_evaluate(module, flag) for flag in flags))
        except Exception:  # noqa: BLE001 - the expression needs a value of its function
            unknown.append(f"{module.__name__}:{node.lineno}: {ast.unparse(node.args[0])[:70]}")
        else:
            method = "finditer" if node.func.attr == "compile" else node.func.attr
            given = node.args[0]
            name = given.id if isinstance(given, ast.Name) else str(node.lineno)
            yield name, pattern, _choose_method([method])


def _iterate_import_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run at import; their patterns are values of the module."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _iterate_import_nodes(node)


def _is_flag(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.Attribute)
        and isinstance(one.value, ast.Name)
        and one.value.id == "re"
        and one.attr.isupper()
        for one in ast.walk(node)
    )


def _evaluate(module: ModuleType, node: ast.expr) -> Any:
    return eval(ast.unparse(node), dict(vars(module)))  # noqa: S307 - an expression of our own


def build_texts(pattern: Pattern) -> Iterator[Callable[[int], Any]]:
    """Yield functions that return a text of a length, on which the pattern may search long."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    encoding = "" if isinstance(pattern.pattern, str) else "utf-8"
    seen: set[tuple[str, str, str]] = set()
    for lead, body, tail in _walk_repeats(tree, ("",), ""):
        literals = "".join(islice(_iterate_literals(tree, 0), 12))
        units = [one for one in dict.fromkeys(_CANDIDATES + literals) if _fits(tree, body, one)]
        units = units[:_MOST_UNITS] or [_sample(body, full=True, depth=0) or "a"]
        for unit in units:
            for form in (
                ("", unit, "\0"),
                (lead, unit, "\0"),
                ("", lead + unit, "\0"),
                ("", lead + unit + tail[:-1], "\0"),
                ("", lead + unit + " ", "\0"),
            ):
                if form not in seen:
                    seen.add(form)
                    yield partial(_fill, form, encoding)


def _fill(form: tuple[str, str, str], encoding: str, chars: int) -> Any:
    lead, unit, tail = form
    text = lead + unit * max(1, chars // len(unit)) + tail
    return text.encode(encoding) if encoding else text


def _walk_repeats(
    tree: Tree, leads: tuple[str, ...], tail: str, depth: int = 0
) -> Iterator[tuple[str, Tree, str]]:
    """Yield what precedes each repetition, what it repeats, and what has to follow."""
    if depth > _MOST_DEPTH:
        return
    items = list(tree)
    for at, (kind, value) in enumerate(items):
        rest = _sample(items[at + 1 :], full=False, depth=0) + tail
        if kind in _REPEATS:
            _, most, body = value
            if most is _constants.MAXREPEAT or most >= _SMALL_LIMIT:
                for lead in leads:
                    yield lead, body, rest
        for part in _list_parts(kind, value):
            yield from _walk_repeats(part, leads, rest, depth + 1)
        more = [_sample([(kind, value)], full=full, depth=0) for full in (False, True)]
        leads = tuple(dict.fromkeys(lead + one for lead in leads[:2] for one in more))[:2]


_REPEATS = (
    _constants.MAX_REPEAT,
    _constants.MIN_REPEAT,
    _constants.POSSESSIVE_REPEAT,
)
_ASSERTS = (_constants.ASSERT, _constants.ASSERT_NOT)


def _list_parts(kind: Any, value: Any) -> list[Tree]:
    """Return the trees within a node."""
    if kind is _constants.BRANCH:
        return list(value[1])
    if kind is _constants.GROUPREF_EXISTS:
        return [one for one in value[1:] if one]
    if kind is _constants.ATOMIC_GROUP:
        return [value]
    places = {**dict.fromkeys(_REPEATS, 2), **dict.fromkeys(_ASSERTS, 1), _constants.SUBPATTERN: 3}
    return [value[places[kind]]] if kind in places else []


def _sample(items: Iterable[Any], *, full: bool, depth: int) -> str:
    """Return a short text that the items match, without regard to assertions."""
    text = ""
    for kind, value in items if depth <= _MOST_DEPTH else ():
        if kind is _constants.LITERAL:
            text += chr(value)
        elif kind is _constants.NOT_LITERAL:
            text += "b" if value == ord("a") else "a"
        elif kind is _constants.ANY:
            text += "a"
        elif kind is _constants.IN:
            text += _choose_member(value)
        elif kind in _REPEATS:
            times = max(value[0], 1 if full else 0)
            text += _sample(value[2], full=full, depth=depth + 1) * min(times, 64)
        elif kind is _constants.ASSERT and value[0] < 0 and not text:
            text += _sample(value[1], full=full, depth=depth + 1)
        elif kind not in _ASSERTS:
            parts = _list_parts(kind, value)[:1]
            text += "".join(_sample(part, full=full, depth=depth + 1) for part in parts)
    return text


def _choose_member(members: list[Any]) -> str:
    """Return a character of a set."""
    accepts = re.compile(_render_set(members))
    return next((one for one in "a0 A_-.\n:/" + _CANDIDATES if accepts.match(one)), "") or next(
        _iterate_literals([(_constants.IN, members)], 0), "a"
    )


_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
}


def _render_set(members: list[Any]) -> str:
    """Return the source of a set of characters."""
    text = ""
    for kind, value in members:
        if kind is _constants.NEGATE:
            text += "^"
        elif kind is _constants.LITERAL:
            text += f"\\U{value:08x}"
        elif kind is _constants.RANGE:
            text += f"\\U{value[0]:08x}-\\U{value[1]:08x}"
        else:
            text += _CATEGORIES[value]
    return f"[{text}]"


def _iterate_literals(tree: Tree, depth: int) -> Iterator[str]:
    for kind, value in tree if depth <= _MOST_DEPTH else ():
        if kind in (_constants.LITERAL, _constants.NOT_LITERAL):
            yield chr(value)
        elif kind is _constants.IN:
            yield from _iterate_literals(value, depth + 1)
        elif kind is _constants.RANGE:
            yield chr(value[0])
        else:
            for part in _list_parts(kind, value):
                yield from _iterate_literals(part, depth + 1)


def _fits(tree: Tree, body: Tree, unit: str) -> bool:
    """Return whether the body of a repetition matches one character."""
    if any(kind is _constants.GROUPREF for kind, _ in body):
        return False
    part = _parser.SubPattern(tree.state, list(body))
    with suppress(Exception):
        compiled = _compiler.compile(part, tree.state.flags & re.IGNORECASE)
        return bool(compiled.fullmatch(unit))
    return False


def measure(site: Site, text: Any, limit_s: float = _SLOW_S) -> float:
    """Return the processor time of a search; the limit when it is given up."""
    used = getattr(site.pattern, site.method)
    started = time.process_time()

    def stop(*_: Any) -> None:
        if time.process_time() - started >= limit_s:
            raise TooSlowError

    signal.signal(signal.SIGALRM, stop)
    try:
        try:
            # A timer of processor time would make the clock count in ticks of 4 ms.
            signal.setitimer(signal.ITIMER_REAL, limit_s, limit_s)
            for _ in used(text) if site.method == "finditer" else (used(text),):
                pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooSlowError:
        return limit_s
    return time.process_time() - started


def check(site: Site, chars: int = CHARS) -> Slow | None:
    """Return the first text on which a pattern grows too fast; None when there is none.

    One doubling is enough to pass, because a repetition with a limit is only slow up to it.
    """
    for build in build_texts(site.pattern):
        first = measure(site, build(chars))
        if first < _QUICK_S:
            continue
        if first >= _SLOW_S:
            return Slow(site, str(build(chars))[:200], chars, (first, first))
        length, before, after = chars, first, first
        for length in (chars, 2 * chars, 4 * chars):
            before = min(measure(site, build(length)) for _ in range(_RUNS))
            allowed = max(MOST_GROWTH * before, 2 * _QUICK_S)
            after = min(measure(site, build(2 * length), 2 * allowed) for _ in range(_RUNS))
            if after <= allowed:
                break
        else:
            return Slow(site, str(build(chars))[:200], length, (before, after))
    return None


def find_slow(sites: Iterable[Site], chars: int = CHARS, looks: int = _LOOKS) -> Iterator[Slow]:
    """Yield the patterns that grow too fast. It uses the timer of the signal SIGALRM."""
    handler, timer = signal.getsignal(signal.SIGALRM), signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        for site in sites:
            if site.place in SHORT_TEXTS:
                continue
            # Further looks, because other processes disturb the times of this one.
            seen = (check(site, chars) for _ in range(looks))
            found = list(takewhile(lambda slow: slow is not None, seen))
            if len(found) == looks and (last := found[-1]) is not None:
                yield last
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chars", type=int, default=CHARS, help="the length of the first texts")
    parser.add_argument("--name", default="", help="only patterns of places with this text")
    options = parser.parse_args()
    sites, unknown = find_sites()
    chosen = [site for site in sites if options.name in site.place]
    slow = [*find_slow(chosen, options.chars)]
    counts = f"{len(chosen)} patterns, {len(slow)} slow, {len(unknown)} not known before they run"
    for line in (*slow, *unknown, f"{counts}, {time.process_time():.0f} s"):
        sys.stdout.write(f"{line}\n")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
