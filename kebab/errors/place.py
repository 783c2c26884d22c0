"""How errors name what failed in the file system: by its absolute path.

What only stands for a path, such as `<stdout>`, and what is no path, and so is quoted, stays.
"""

import os

_NO_PATH = ("<", "'", '"')


def absolute(path: object, base: str = "") -> str:
    """Return a path that errors may name; a relative one lies below `base`, or where we are."""
    text = str(path)
    if text.startswith(_NO_PATH):
        return text
    try:
        return os.path.abspath(os.path.join(base, text))  # noqa: PTH100, PTH118 - no link is followed, and `Path` keeps `..`
    except FileNotFoundError:  # the folder that we are in was deleted
        return text
