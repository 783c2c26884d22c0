"""What kind a file is, told by its name alone."""

MARKDOWN = "text/markdown"
PLAIN = "text/plain"

SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdx"), MARKDOWN),
    **dict.fromkeys(
        (".txt", ".text", ".log", ".rst", ".org", ".adoc", ".asciidoc", ".textile"), PLAIN
    ),
}
"""Media type by lower-case suffix."""


def suffix_of(name: str) -> str:
    """Return the last suffix of a file name in lower case, with its dot; empty without one."""
    stem, dot, last = name.rpartition(".")
    return f".{last.lower()}" if dot and stem and last else ""


def media_of(name: str) -> str | None:
    """Return the media type of a file by its name, or None when no parser takes such files."""
    return SUFFIXES.get(suffix_of(name))
