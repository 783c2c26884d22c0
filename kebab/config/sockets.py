"""Finds the folder of the sockets of the warm process, and says why it cannot be used.

A client of the warm process imports it before anything else, so it uses built-in modules only.
"""

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def find_folder(environ: "Mapping[str, str]") -> str:
    """Return the folder of the sockets of this user, whether or not it exists."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        return os.path.join(runtime, "kebab")
    temporary = environ.get("TMPDIR", "")
    return os.path.join(temporary if os.path.isabs(temporary) else "/tmp", f"kebab-{os.getuid()}")  # noqa: S108 - the folder is checked before use


def is_private_folder(path: str) -> bool:
    """Return whether a path is a folder of this user that nobody else can enter."""
    try:
        return _explain(os.lstat(path)) is None
    except OSError:
        return False


def _explain(status: os.stat_result) -> str | None:
    """Return why what has this status is no private folder, None when it is one."""
    if status.st_uid != os.geteuid():
        return "the folder of its sockets belongs to another user"
    if not stat.S_ISDIR(status.st_mode):
        return "a file is in the place of the folder of its sockets"
    is_open = stat.S_IMODE(status.st_mode) & 0o077
    return "other users can enter the folder of its sockets" if is_open else None


def find_fault(environ: "Mapping[str, str]", state: str) -> tuple[str, str] | None:
    """Return why no warm process is used, and the command that mends it.

    None when the folder of the sockets is private or does not exist.

    `state` is the folder of this user that can hold the sockets instead.
    """
    if sys.platform == "win32":
        return None
    folder = find_folder(environ)
    try:
        status = os.lstat(folder)
    except OSError:
        return None
    cause = _explain(status)
    if cause is None:
        return None
    from shlex import quote

    if status.st_uid != os.geteuid():
        is_runtime = os.path.isabs(environ.get("XDG_RUNTIME_DIR", ""))
        fix = f"export {'XDG_RUNTIME_DIR' if is_runtime else 'TMPDIR'}={quote(state)}"
    elif stat.S_ISDIR(status.st_mode):
        fix = f"chmod 700 {quote(folder)}"
    else:
        fix = f"mv {quote(folder)} {quote(folder + '.old')}"
    return f"no warm process, {cause}: {folder}", fix
