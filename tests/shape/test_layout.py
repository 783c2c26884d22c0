"""Rules about every file: names, docstrings, lengths, comments."""

import ast
import io
import re
import tokenize

from tests.shape.tree import list_modules

SOURCES = [*list_modules("kebab"), *list_modules("tools")]
EVERYTHING = [*SOURCES, *list_modules("tests")]

BANNED_NAMES = {"utils", "util", "helpers", "common", "misc", "base", "manager", "types"}
LONGEST_MODULE = 600
LONGEST_FUNCTION = 80
HISTORY = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|p\d+-\w+|phase \d+|milestone|sprint"
    r"|(?:issue|ticket|pull request|PR) #?\d+|\d{4}-\d{2}-\d{2}|since v\d)\b",
    re.IGNORECASE,
)


def test_no_module_is_a_drawer():
    parts = {
        str(module): {part.removeprefix("test_") for part in module.name.split(".")}
        for module in EVERYTHING
    }

    assert not [name for name, found in parts.items() if found & BANNED_NAMES]


def test_every_module_says_what_it_holds():
    assert not [str(module) for module in SOURCES if not ast.get_docstring(module.syntax)]


def test_no_module_is_too_long():
    long = {str(module): module.lines for module in SOURCES if module.lines > LONGEST_MODULE}

    assert long == {}


def test_no_function_is_too_long():
    long = {
        f"{module}: {node.name}": length
        for module in SOURCES
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := count_body_lines(node)) > LONGEST_FUNCTION
    }

    assert not long


def test_comments_give_reasons_and_no_history():
    told = {
        f"{module}: {token.string}"
        for module in EVERYTHING
        # To cut a file into tokens takes long.
        if any(HISTORY.search(line.partition("#")[2]) for line in module.text.splitlines())
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type == tokenize.COMMENT and HISTORY.search(token.string)
    }

    assert not told


def test_docstrings_hold_no_history():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    told = {
        f"{module}: {text}"
        for module in SOURCES
        for node in module.nodes
        if isinstance(node, documented)
        and (text := ast.get_docstring(node))
        and HISTORY.search(text)
    }

    assert not told


def count_body_lines(function):
    """Return the lines of a function without its head and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
