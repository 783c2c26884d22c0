"""Functions and methods are named with a verb: a bare participle says nothing of what they do."""

import ast
import re

from tests.shape.tree import Module, list_modules

IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        """
    begun bereft bound broken brought built caught chosen cut drawn dug fallen felt found given gone
    grown heard held hidden kept known laid led left lent lost made meant met paid put read run said
    seen sent set shown shut sold spent split spread stood swept taken taught thought thrown told
    torn understood woken won worn woven written
    """,
    )
)
"""Participles without the ending -ed."""

VERBS = frozenset(
    {"cut", "embed", "exceed", "feed", "need", "proceed", "put", "read", "reembed", "run"}
    | {"seed", "set", "split", "succeed"}
)
"""Words of the same form that are a verb, too: `read` reads, `embed` embeds."""


def is_participle(name: str) -> bool:
    """Return whether a name is one word that says what has been done."""
    word = name.strip("_")
    if word in VERBS or not word.isalpha():
        return False
    return word.endswith("ed") or word in IRREGULAR


def is_property(node: ast.AST) -> bool:
    """Return whether a function is read like a field."""
    decorators = getattr(node, "decorator_list", [])
    names = {
        one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in decorators
    }
    return bool(names & {"property", "cached_property", "setter"})


def find_participles(module: Module) -> list[str]:
    """Return the functions and methods of a module whose name is a bare participle."""
    return [
        f"{module.name}.{node.name}"
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_participle(node.name)
        and not is_property(node)
    ]


def test_no_function_is_named_by_a_bare_participle():
    modules = [*list_modules("kebab"), *list_modules("tools")]

    assert [name for one in modules for name in find_participles(one)] == []
