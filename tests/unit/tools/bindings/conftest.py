"""Grammars that tell whether generated text is the language that it means to be."""

import importlib
from dataclasses import dataclass

import pytest
import tree_sitter


@dataclass(frozen=True)
class Grammar:
    """The parser of one language."""

    language: tree_sitter.Language

    def tree(self, text):
        """Return the root of the syntax tree."""
        return tree_sitter.Parser(self.language).parse(text.encode()).root_node

    def faults(self, text):
        """Return the lines where the text is not the language."""
        broken = (node for node in walk(self.tree(text)) if node.is_error or node.is_missing)
        return [node.start_point[0] + 1 for node in broken]

    def nodes(self, text, kind):
        """Return every node of a kind."""
        return [node for node in walk(self.tree(text)) if node.type == kind]


def walk(node):
    """Yield a node and everything below it."""
    yield node
    for child in node.children:
        yield from walk(child)


@pytest.fixture
def grammar():
    def load(module, name="language"):
        functions = importlib.import_module(module)
        return Grammar(tree_sitter.Language(getattr(functions, name)()))

    return load
