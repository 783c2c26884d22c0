"""Renders the error catalogue as constants in Go, Java and TypeScript."""

from tools.bindings import go, java, typescript


def build_bindings() -> dict[str, str]:
    """Return the text of every binding by its file name."""
    return {
        "Errors.java": java.render_source(),
        "errors.go": go.render_source(),
        "errors.ts": typescript.render_source(),
    }
