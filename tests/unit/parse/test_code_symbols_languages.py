import pytest
from tree_sitter import Language

from kebab.core.media import MEDIA_TYPES
from kebab.parse.code_symbols import SYNTAXES, Syntax

NODES = [field for field, kind in Syntax.__annotations__.items() if "frozenset" in str(kind)]


def test_every_language_of_the_media_types_has_a_syntax():
    languages = {media.language for media in MEDIA_TYPES} - {""}
    assert set(SYNTAXES) == languages | {"tsx"}


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_node_type_exists_in_the_grammar(name):
    syntax = SYNTAXES[name]
    grammar = Language(syntax.grammar())
    types = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    named = set().union(*(getattr(syntax, field) for field in NODES))
    named |= {*syntax.names, *syntax.holders, *syntax.name_nodes}
    assert named - types == set()


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_field_exists_in_the_grammar(name):
    syntax = SYNTAXES[name]
    grammar = Language(syntax.grammar())
    fields = {*syntax.names.values(), *syntax.holders.values()}
    assert {field for field in fields if grammar.field_id_for_name(field) is None} == set()
