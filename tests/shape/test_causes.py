"""The causes with which parsers refuse files read alike in every format."""

import ast
import re

from tests.shape.tree import list_modules

STYLE = re.compile(
    r"damaged: .*|not an? .*|the (?:file|text|book) is .*|it is .*|an old .*|binary data, not text"
    r"|(?:only images, (?:and )?)?no text\b.*|expands to .*|more than .*|`.*|the parser failed.*"
)


def list_causes():
    """Return what parsers give as the cause of `ParseFailed`, with `…` for values."""
    for module in list_modules("kebab/parse"):
        for node in module.nodes:
            if isinstance(node, ast.Call):
                texts = [word.value for word in node.keywords if word.arg == "cause"]
                if isinstance(node.func, ast.Name) and node.func.id == "build_refusal":
                    texts += node.args[:1]
                yield from filter(None, map(read_text, texts))


def read_text(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.Constant) else "…" for one in node.values)
        return "".join(map(str, parts))
    return None


def test_every_cause_begins_as_those_of_other_formats_and_none_is_a_sentence():
    causes = sorted(set(list_causes()))

    assert len(causes) > 20
    assert [cause for cause in causes if not STYLE.fullmatch(cause)] == []
    assert [cause for cause in causes if cause.endswith(".") or cause[:1].isupper()] == []
