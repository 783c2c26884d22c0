import builtins
import re

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.registry import PARSER_EXCEPTIONS, convert_exceptions
from tests.shape.libraries import list_own_exceptions

OTHERS = {
    "OSError": "the file system, told in its own words",
    "ImportError": "a library that is not there, whatever the file",
    "Warning": "not raised, but shown or silenced",
    "ExceptionGroup": "of concurrent work, which no parser does",
    "ReferenceError": "of weak references, which no parser has",
    "StopAsyncIteration": "of asynchronous code, which no parser is",
    "SyntaxError": "of Python source that is being compiled",
}


def test_every_exception_of_python_is_listed_or_excluded_for_a_reason():
    known = {kind for kind in vars(builtins).values() if isinstance(kind, type)}
    direct = {kind.__name__ for kind in known if kind.__base__ is Exception}
    direct |= {"ExceptionGroup"}

    assert {kind.__name__ for kind in PARSER_EXCEPTIONS} - {re.error.__name__} == direct - set(
        OTHERS
    )


@pytest.mark.parametrize("fault", [*PARSER_EXCEPTIONS, KeyError, UnicodeError, RecursionError])
def test_an_unexpected_exception_becomes_parse_failed(fault):
    original = fault("out of the blue")

    with pytest.raises(ParseFailed) as caught, convert_exceptions("a.md", "markdown-v1"):
        raise original

    assert (caught.value.path, caught.value.parser) == ("a.md", "markdown-v1")
    assert caught.value.cause in (
        "the parser failed: out of the blue",
        "the parser failed: 'out of the blue'",
    )
    assert caught.value.__cause__ is original


@pytest.mark.parametrize("fault", [OSError, KeyboardInterrupt])
def test_an_exception_that_is_not_about_the_file_is_not_converted(fault):
    with pytest.raises(fault), convert_exceptions("a.md", "markdown-v1"):
        raise fault


@pytest.mark.parametrize("library", ["charset_normalizer", "pyromark"])
def test_the_libraries_of_parsers_have_no_exception_that_would_pass(library):
    assert {
        kind for kind in list_own_exceptions(library) if not issubclass(kind, PARSER_EXCEPTIONS)
    } == set()
