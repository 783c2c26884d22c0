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
from itertools import chain, islice
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

MOST_GROWTH = 2.5
"""How many times as long a text of double length may take."""

CHARS = 4_000
_QUICK_S = 0.0005
"""A pattern that is faster at the first length passes: a quadratic one takes a millisecond."""
_SLOW_S = 0.1
"""A search that needs more processor time is given up and counts as endless."""
_RUNS = 3
_SMALL_LIMIT = 16
"""A repetition with a smaller limit costs a constant factor."""
_MOST_UNITS = 4
_MOST_DEPTH = 12
_CANDIDATES = " a\nA0_-./<\"'`[(|*#\\가ß"
_METHODS = ("search", "sub", "subn", "findall", "finditer", "split", "match", "fullmatch")
_ANCHORED = frozenset({"match", "fullmatch"})

Pattern = re.Pattern[Any]
Tree = Any


@dataclass(frozen=True, slots=True)
class Site:
    """A pattern, where it was found, and whether it only matches at one place of a text."""

    place: str
    pattern: Pattern
    anchored: bool


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
    found: dict[tuple[Any, int, bool], Site] = {}
    unknown: list[str] = []
    for module in _import_modules(package):
        source = inspect.getsource(module)
        patterns = [*_list_values(module), *_list_calls(module, ast.parse(source), unknown)]
        for name, pattern, anchored in patterns:
            key = (pattern.pattern, pattern.flags, anchored)
            found.setdefault(key, Site(f"{module.__name__}:{name}", pattern, anchored))
    searched = {key[:2] for key in found if not key[2]}
    return [one for key, one in found.items() if not key[2] or key[:2] not in searched], unknown


def _import_modules(package: str) -> Iterator[ModuleType]:
    """Yield the modules of a package; those of extras that are not installed are left out."""
    root = importlib.import_module(package)
    yield root
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):
                yield importlib.import_module(found.name)


def _list_values(module: ModuleType) -> Iterator[tuple[str, Pattern, bool]]:
    """Yield the compiled patterns that a module holds, also in containers and classes."""
    source = inspect.getsource(module)
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ != module.__name__:
            continue
        uses = set(re.findall(rf"\b{re.escape(name)}\.({'|'.join(_METHODS)})\b", source))
        anchored = bool(uses) and uses <= _ANCHORED
        for pattern in _iterate_patterns(value, 0):
            yield name, pattern, anchored


def _iterate_patterns(value: Any, depth: int) -> Iterator[Pattern]:
    """Yield the patterns within a value: a container, a class, a record or an instance."""
    if isinstance(value, re.Pattern):
        yield value
        return
    if depth > 3 or isinstance(value, str | bytes | ModuleType):
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
) -> Iterator[tuple[str, Pattern, bool]]:
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
            yield str(node.lineno), pattern, node.func.attr in _ANCHORED


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
    text_like = isinstance(pattern.pattern, str)
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
                ("", unit * 8 + lead, "\0"),
            ):
                if form not in seen:
                    seen.add(form)
                    yield partial(_fill, *form, text_like)


def _fill(lead: str, unit: str, tail: str, text_like: bool, chars: int) -> Any:
    text = lead + unit * max(1, chars // len(unit)) + tail
    return text if text_like else text.encode("utf-8", "replace")


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
    if kind in _REPEATS:
        return [value[2]]
    if kind is _constants.BRANCH:
        return list(value[1])
    if kind is _constants.SUBPATTERN:
        return [value[3]]
    if kind is _constants.ATOMIC_GROUP:
        return [value]
    if kind in _ASSERTS:
        return [value[1]]
    if kind is _constants.GROUPREF_EXISTS:
        return [one for one in value[1:] if one]
    return []


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


def measure(site: Site, text: Any) -> float:
    """Return the processor time of a search; `_SLOW_S` when it is given up."""
    used = site.pattern.fullmatch if site.anchored else site.pattern.finditer
    started = time.process_time()
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, _SLOW_S)
            result = used(text)
            if not site.anchored:
                for _ in result:
                    pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TooSlowError:
        return _SLOW_S
    return time.process_time() - started


def check(site: Site, chars: int = CHARS) -> Slow | None:
    """Return the first text on which a pattern grows too fast; None when there is none.

    One doubling is enough to pass, because a repetition with a limit is only slow up to it.
    """
    for build in build_texts(site.pattern):
        if measure(site, build(chars)) < _QUICK_S:
            continue
        for length in (chars, 2 * chars, 4 * chars):
            before = min(measure(site, build(length)) for _ in range(_RUNS))
            after = min(measure(site, build(2 * length)) for _ in range(_RUNS))
            if after <= max(MOST_GROWTH * before, 2 * _QUICK_S) and after < _SLOW_S:
                break
        else:
            return Slow(site, str(build(chars))[:200], length, (before, after))
    return None


def find_slow(sites: Iterable[Site], chars: int = CHARS) -> Iterator[Slow]:
    """Yield the patterns that grow too fast. It uses the timer of the processor time."""

    def stop(*_: Any) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        for site in sites:
            if found := check(site, chars):
                yield found
    finally:
        signal.signal(signal.SIGVTALRM, before)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chars", type=int, default=CHARS, help="the length of the first texts")
    parser.add_argument("--name", default="", help="only patterns of places with this text")
    options = parser.parse_args()
    sites, unknown = find_sites()
    chosen = [site for site in sites if options.name in site.place]
    slow = 0
    for found in find_slow(chosen, options.chars):
        slow += 1
        print(found, flush=True)
    for one in unknown:
        print(f"not known before it runs: {one}")
    print(
        f"{len(chosen)} patterns, {slow} slow, {len(unknown)} not known, {time.process_time():.0f} s"
    )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
