"""Reads XML parts of documents as a sequence of elements, safely and without a tree of the whole.

Entities cannot be declared, nothing outside the part is loaded, and depth is limited.
"""

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers import expat

from kebab.errors.catalog import ParseFailed

MAX_DEPTH = 200
"""The deepest nesting of elements; a table within a table adds about four levels."""

MAX_TREE_ELEMENTS = 1_000_000
"""The most elements of a part that is kept as a whole; they take about 100 MB."""

_FEED_BYTES = 1 << 16

Event: TypeAlias = tuple[Literal["start", "end"], Element]
"""The start or the end of an element."""
Refuse: TypeAlias = Callable[[str], ParseFailed]
"""Builds the error for a file from its cause, e.g. `Archive.refuse`."""


class _PrologEnded(Exception):  # noqa: N818 - no error
    """The root element begins."""


def read_events(data: bytes, name: str, refuse: Refuse) -> Iterator[Event]:
    """Yield the start and the end of every element of a part, in order.

    At its `end` an element is complete; clear it to keep memory small. Tags and attributes have
    their namespace in braces. `name` is the part's name, for errors.

    Raises:
        ParseFailed: The part is no XML, declares entities, or is nested too deeply.
    """
    _refuse_entities(data, name, refuse)
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    depth = 0
    try:
        for start in range(0, len(data), _FEED_BYTES):
            parser.feed(data[start : start + _FEED_BYTES])
            for event in cast("Iterator[Event]", parser.read_events()):
                depth += 1 if event[0] == "start" else -1
                if depth > MAX_DEPTH:
                    raise refuse(f"`{name}` is nested more than {MAX_DEPTH} levels deep")
                yield event
        parser.close()
        yield from cast("Iterator[Event]", parser.read_events())
    except (ParseError, ValueError, LookupError) as fault:
        raise _refuse_broken(fault, name, refuse) from fault


def read_children(
    data: bytes, name: str, refuse: Refuse, containers: Collection[str]
) -> Iterator[Element]:
    """Yield each complete element that stands within containers only, then forget it.

    Containers are local tags, and are not yielded. A part of any size takes little memory as long
    as its elements are small.

    Raises:
        ParseFailed: The part is no XML, declares entities, or is nested too deeply.
    """
    stack: list[Element] = []
    outside = 0  # how many of the open elements are no containers
    for kind, element in read_events(data, name, refuse):
        is_container = get_local_tag(element.tag) in containers
        if kind == "start":
            stack.append(element)
            outside += not is_container
            continue
        stack.pop()
        outside -= not is_container
        if not outside:
            if not is_container:
                yield element
            if stack:
                del stack[-1][:]


@lru_cache(maxsize=4096)
def get_local_tag(tag: str) -> str:
    """Return a tag or attribute without its namespace: two editions of a format differ in it."""
    return tag.rpartition("}")[2]


def list_children(element: Element | None) -> list[Element]:
    """Return the children of an element; none without an element."""
    return [] if element is None else list(element)


def find_child(element: Element | None, tag: str) -> Element | None:
    """Return the first child with a local tag."""
    for child in element if element is not None else ():
        if get_local_tag(child.tag) == tag:
            return child
    return None


def get_attribute(element: Element, name: str, default: str = "") -> str:
    """Return an attribute by its local name, whatever its namespace."""
    for key, value in element.items():
        if get_local_tag(key) == name:
            return value
    return default


def read_tree(data: bytes, name: str, refuse: Refuse) -> Element:
    """Return the root of a small part with all its elements.

    Raises:
        ParseFailed: The part is no XML, declares entities, is nested too deeply, or is too large.
    """
    root = Element("")
    for count, (_, element) in enumerate(read_events(data, name, refuse)):
        root = element  # the last event is the end of the root
        if count > 2 * MAX_TREE_ELEMENTS:
            raise refuse(f"`{name}` has more than {MAX_TREE_ELEMENTS:,} elements")
    return root


def _refuse_entities(data: bytes, name: str, refuse: Refuse) -> None:
    """Read what precedes the root element, which is all that can declare an entity."""
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def refuse_entity(*declaration: object) -> None:
        del declaration
        raise refuse(f"`{name}` declares XML entities")

    def end_prolog(tag: str, attributes: object) -> None:
        del tag, attributes
        raise _PrologEnded

    parser.EntityDeclHandler = refuse_entity
    parser.StartElementHandler = end_prolog
    try:
        for start in range(0, len(data), _FEED_BYTES):
            parser.Parse(data[start : start + _FEED_BYTES], False)  # noqa: FBT003 - the library's
        parser.Parse(b"", True)  # noqa: FBT003
    except _PrologEnded:
        return
    except (expat.ExpatError, ValueError, LookupError) as fault:
        raise _refuse_broken(fault, name, refuse) from fault


def _refuse_broken(fault: Exception, name: str, refuse: Refuse) -> ParseFailed:
    return refuse(f"damaged: the XML of `{name}` is broken: {fault}")
