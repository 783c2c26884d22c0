"""Reading the published text that stands below the fields of a class."""

import ast
import inspect
import textwrap


def field_docstrings(form: type) -> dict[str, str]:
    """Return the text below each field of a class, by field name, base classes included."""
    found: dict[str, str] = {}
    for ancestor in reversed(form.__mro__):
        if ancestor.__module__.startswith("kebab."):
            found |= _own_docstrings(ancestor)
    return found


def _own_docstrings(form: type) -> dict[str, str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(form))).body[0]
    assert isinstance(body, ast.ClassDef)
    pairs = zip(body.body, body.body[1:], strict=False)
    return {
        field.target.id: " ".join(str(text.value.value).split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
