"""The tree that the shape tests look at."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """One source file."""

    path: Path
    root: Path = ROOT

    @cached_property
    def name(self) -> str:
        """Its dotted name, without `__init__`."""
        parts = self.path.relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def lines(self) -> int:
        """How many lines it has."""
        return len(self.text.splitlines())

    @cached_property
    def syntax(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of its syntax tree."""
        return list(ast.walk(self.syntax))

    def __str__(self) -> str:
        return str(self.path.relative_to(self.root))


@cache
def list_modules(folder: str, root: Path = ROOT) -> list[Module]:
    """Return every source file below a folder of the checkout, or of another tree."""
    return [Module(path, root) for path in sorted((root / folder).rglob("*.py"))]
