import pytest

from kebab.core.media import MEDIA_TYPES, PATTERN_LANGUAGES
from kebab.parse.code.languages import SYNTAXES, Syntax
from kebab.parse.code.symbols import load_grammar

GRAMMAR_LANGUAGES = {media.language for media in MEDIA_TYPES} - {"", *PATTERN_LANGUAGES}
NODES = [
    field
    for field, kind in Syntax.__annotations__.items()
    if "frozenset" in str(kind) and field != "bodies"  # most languages share its types
]


def test_every_language_of_the_media_types_has_a_syntax():
    assert set(SYNTAXES) == GRAMMAR_LANGUAGES | {"tsx"}


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_node_type_exists_in_the_grammar(name):
    syntax = SYNTAXES[name]
    grammar = load_grammar(name)
    types = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    named = set().union(*(getattr(syntax, field) for field in NODES))
    named |= {*syntax.names, *syntax.holders}
    assert named - types == set()
