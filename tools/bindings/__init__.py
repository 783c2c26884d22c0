"""Renders source code for callers in Go, Java and TypeScript: the errors, and positions."""

from tools.bindings import go, java, positions, typescript


def build_bindings() -> dict[str, str]:
    """Return the text of every binding by its file name."""
    return {
        "Errors.java": java.render_source(),
        "errors.go": go.render_source(),
        "errors.ts": typescript.render_source(),
        "positions.go": positions.GO,
        "positions.ts": positions.TYPESCRIPT,
    }
