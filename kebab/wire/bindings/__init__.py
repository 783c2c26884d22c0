"""The catalogue as constants of other languages, so that nobody types it by hand."""

from kebab.wire.bindings import go, java, typescript


def bindings() -> dict[str, str]:
    """Return the text of every binding by its file name."""
    return {
        "Errors.java": java.source(),
        "errors.go": go.source(),
        "errors.ts": typescript.source(),
    }
