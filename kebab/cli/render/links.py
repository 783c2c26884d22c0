"""Builds the links of file names: an address that a terminal opens on a click.

Names of formats and placeholders are those of ripgrep's `--hyperlink-format`.
"""

import os
from pathlib import Path

_FORMATS = {
    "none": "",
    "default": "file://{path}",
    "file": "file://{path}",
    "cursor": "cursor://file{path}:{line}:{column}",
    "kitty": "file://{path}#{line}",
    "macvim": "mvim://open?url=file://{path}&line={line}&column={column}",
    "textmate": "txmt://open?url=file://{path}&line={line}&column={column}",
    "vscode": "vscode://file{path}:{line}:{column}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}:{column}",
    "vscodium": "vscodium://file{path}:{line}:{column}",
}
"""The formats by name. Only editors and kitty read a line; elsewhere it would break the link."""

_SCHEME = "file://"


def build_link(file: str | None, line: int | None, form: str, page: int | None = None) -> str:
    """Return the link to a line of a file, empty without an absolute path.

    Args:
        file: The path of the file.
        line: The line, None for the first one.
        form: The name of a format, or a text with the placeholders `{path}`, `{host}`, `{line}`
            and `{column}`.
        page: The page of a document with pages; a link to the file itself gets it.
    """
    template = _FORMATS.get(form, form)
    if file is None or not template:
        return ""
    try:
        path = Path(file).as_uri().removeprefix(_SCHEME)
    except (ValueError, UnicodeEncodeError):
        return ""
    values = {"path": path, "line": str(line or 1), "column": "1"}
    if "{host}" in template:
        values["host"] = os.uname().nodename
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return f"{template}#page={page}" if page and template == _SCHEME + path else template
