"""Rules about every file: names, docstrings, lengths, comments."""

import ast
import io
import re
import tokenize

import pytest

from tests.shape.tree import modules

SOURCES = modules("kebab")
EVERYTHING = [*SOURCES, *modules("tests")]

BANNED_NAMES = {"utils", "util", "helpers", "common", "misc", "base", "manager", "types"}
LONGEST_MODULE = 300
LONGEST_FUNCTION = 40
LONG_ON_PURPOSE = {"kebab/errors/catalog.py": "one class for each error, with its explanation"}
HISTORY = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|p\d+-\w+|phase \d+|ticket|milestone|sprint"
    r"|(?:issue|pull request|PR) #?\d+|\d{4}-\d{2}-\d{2}|since v\d)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("module", EVERYTHING, ids=str)
def test_no_module_is_a_drawer(module):
    parts = {part.removeprefix("test_") for part in module.name.split(".")}

    assert not parts & BANNED_NAMES


@pytest.mark.parametrize("module", SOURCES, ids=str)
def test_every_module_says_what_it_holds(module):
    assert ast.get_docstring(module.syntax)


@pytest.mark.parametrize("module", SOURCES, ids=str)
def test_no_module_is_too_long(module):
    if str(module) in LONG_ON_PURPOSE:
        assert module.lines > LONGEST_MODULE, "the exception is not needed any more"
    else:
        assert module.lines <= LONGEST_MODULE


@pytest.mark.parametrize("module", SOURCES, ids=str)
def test_no_function_is_too_long(module):
    long = {
        node.name: length
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := body_lines(node)) > LONGEST_FUNCTION
    }

    assert not long


@pytest.mark.parametrize("module", EVERYTHING, ids=str)
def test_comments_give_reasons_and_no_history(module):
    read = io.StringIO(module.text).readline
    comments = [token for token in tokenize.generate_tokens(read) if token.type == tokenize.COMMENT]

    assert not [token.string for token in comments if HISTORY.search(token.string)]


@pytest.mark.parametrize("module", SOURCES, ids=str)
def test_docstrings_hold_no_history(module):
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        ast.get_docstring(node) or ""
        for node in ast.walk(module.syntax)
        if isinstance(node, documented)
    ]

    assert not [text for text in texts if HISTORY.search(text)]


@pytest.mark.parametrize(
    "comment",
    ["# TODO tidy", "# see issue 12", "# added 2024-05-01", "# p9-fb-34", "# phase 2", "# PR #7"],
)
def test_the_rule_about_history_can_fail(comment):
    assert HISTORY.search(comment)


def body_lines(function):
    """Return the lines of a function without its head and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
