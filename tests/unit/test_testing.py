"""The suite accepts a sound parser, and finds each fault of others."""

import re
from types import ModuleType, SimpleNamespace

import pytest

from kebab.core.documents import Block, BlockKind, ParsedDocument
from kebab.testing import ParserSuite
from tests.shape.tree import ROOT


@pytest.fixture
def module():
    page = (ROOT / "docs" / "plugins.md").read_text()
    module = ModuleType("kebab_recipe")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(code, module.__dict__)
    return module


@pytest.fixture
def suite(module):
    suite = ParserSuite()
    suite.format, suite.samples = module.RECIPE, (b"!Bread\n\nsourdough\n", b"!Soup")
    return suite


def run(suite):
    for name in dir(suite):
        if name.startswith("test_"):
            getattr(suite, name)()


def test_the_example_of_the_page_passes(suite):
    run(suite)


@pytest.mark.parametrize(
    "document",
    [
        ParsedDocument("a\r\n", "t", (Block(BlockKind.PARAGRAPH, 0, 1),)),
        ParsedDocument("abc", "t", (Block(BlockKind.PARAGRAPH, 0, 9),)),
        ParsedDocument("abc", "", (Block(BlockKind.PARAGRAPH, 0, 3),)),
        ParsedDocument("abc", "t", (Block(BlockKind.PARAGRAPH, 0, 3, 1),)),
        ParsedDocument("abc", "t", ()),
    ],
)
def test_an_unsound_document_fails(suite, document):
    parser = SimpleNamespace(version="x-v1", parse=lambda data, path: document)
    suite.format = suite.format._replace(parser=parser)

    with pytest.raises(AssertionError):
        run(suite)


def test_an_exception_other_than_a_refusal_fails(suite):
    good = suite.format.parser
    parser = SimpleNamespace(
        version="x-v1", parse=lambda data, path: good.parse(data, path) if data else data[0]
    )
    suite.format = suite.format._replace(parser=parser)

    with pytest.raises(IndexError):
        run(suite)
