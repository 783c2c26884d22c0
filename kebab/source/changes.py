"""Asks git which files and lines changed since a revision.

A repository is not trusted: no program that its settings name is run to compare files.
"""

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from kebab.core.files import cut_root, join_root, resolve_links
from kebab.errors.catalog import InvalidInput, TimedOut
from kebab.errors.system import build_missing_program

Lines: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of lines [first, last] from 1, in order."""

_HEAD = "HEAD"
_FIELD = "$.changed"
_SAFE = (*("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "diff.external="),)
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"),
    *("--ignore-submodules=all", "--diff-filter=d", "--no-relative"),
)
_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_DEADLINE_S = 120.0
_LOCATIONS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
"""What git sets for its hooks; here a folder tells the repository."""


class Repository(NamedTuple):
    """A work tree of git, and the commit that it is compared with, or the empty tree."""

    top: str
    base: str
    has_commit: bool


class ChangedFiles(NamedTuple):
    """The changed files with their lines, None for all, and the revision to compare with again."""

    lines: Mapping[str, Lines | None]
    revision: str


def find_changes(files: Sequence[str], revision: str, names: Sequence[str] = ()) -> ChangedFiles:
    """Ask git which of the files changed since a revision; `names` are folders without any.

    Raises:
        InvalidInput: A file is in no work tree, or git does not know the revision.
        DependencyMissing: There is no git.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    find_top = cache(find_work_tree)
    real = [resolve_links(file) for file in files]
    folders = [file.rpartition("/")[0] or "/" for file in real] or map(resolve_links, names)
    for folder in folders:
        groups[find_top(folder)].append(folder)
    found: dict[str, Lines | None] = {}
    base = revision
    for top, below in groups.items():
        repository = find_repository(top, revision)
        found |= list_changes(repository, [os.path.commonpath(below)])
        if len(groups) == 1 and repository.has_commit:
            base = repository.base
    return ChangedFiles({file: found[file] for file in real if file in found}, base)


def find_repository(folder: str, revision: str) -> Repository:
    """Return the work tree of a folder and what its files are compared with.

    That is the merge base of the revision and `HEAD`; before the first commit it is nothing.

    Raises:
        InvalidInput: The folder is in no work tree, or git does not know the revision.
        DependencyMissing: There is no git.
    """
    top = _require(folder, "rev-parse", "--show-toplevel")
    is_flag = revision.startswith("-")
    name = f"{revision}^{{commit}}"
    commit = None if is_flag else _run(folder, "rev-parse", "--verify", "--quiet", name)[0]
    if commit is None:
        if revision != _HEAD:
            raise InvalidInput(field=_FIELD, cause=f"git does not know this revision: {revision}")
        base = _require(folder, "hash-object", "-t", "tree", "--stdin")
    elif revision == _HEAD:
        base = commit
    else:
        common = _run(folder, "merge-base", _decode(commit), _HEAD)[0]
        if common is None:
            shallow = _run(folder, "rev-parse", "--is-shallow-repository")[0] == b"true\n"
            where = " in this shallow clone" if shallow else ""
            cause = f"`{revision}` and `HEAD` have no commit in common{where}"
            raise InvalidInput(field=_FIELD, cause=cause)
        base = common
    found = resolve_links(os.fsdecode(top).rstrip("\r\n"))
    return Repository(found, _decode(base), commit is not None)


def find_work_tree(folder: str) -> str:
    """Return the nearest folder, this one or one above, that has `.git`.

    Raises:
        InvalidInput: There is none.
    """
    top = folder
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)  # noqa: PTH120 - far faster
        if above == top:
            cause = f"it is in no work tree of git: {folder}"
            raise InvalidInput(field=_FIELD, cause=cause)
        top = above
    return top


def list_changes(repository: Repository, paths: Sequence[str]) -> dict[str, Lines | None]:
    """Return the changed lines of each changed file by its absolute path.

    None means all lines: those of a new file, and of one that git compares as a whole. Deleted
    files, files of submodules and ignored files are left out. Only files at or below `paths`, which
    are absolute, are looked for.
    """
    top = repository.top
    inner = [os.path.relpath(path, top) for path in paths]
    below = ("--", *("." if path == os.curdir else f":(literal){path}" for path in inner))
    compared = (*_DIFF, repository.base)
    names = _require(top, *compared, "--name-only", "-z", *below)
    others = _require(top, "ls-files", "--others", "--exclude-standard", "-z", *below)
    found: dict[str, Lines | None] = dict.fromkeys(_join(top, others))
    tracked = _join(top, names)
    if tracked:
        patch = _require(top, *compared, "-U0", "-z", "--src-prefix=a/", "--dst-prefix=b/", *below)
        lines = _read_patch(patch)
        renamed = _require(top, *compared, "--name-only", "-z", "--diff-filter=R", *below)
        pure = set(_join(top, renamed))
        for path in tracked:
            changed = lines.get(os.fsencode(cut_root(path, top)))
            found[path] = () if changed is None and path in pure else changed
    return found


def _read_patch(patch: bytes) -> dict[bytes, Lines | None]:
    found: dict[bytes, list[tuple[int, int]] | None] = {}
    path: bytes | None = None
    in_head = False
    for line in patch.split(b"\n"):
        if line.startswith(b"diff --git "):
            path, in_head = None, True
        elif in_head and line.startswith(b"+++ b/"):
            path = line[len(b"+++ b/") :].removesuffix(b"\t")
            found[path] = []
        elif hunk := _HUNK.match(line):
            in_head = False
            first, count = int(hunk[1]), int(hunk[2] or 1)
            ranges = found.get(path) if path is not None else None
            if count and ranges is not None:
                ranges.append((first, first + count - 1))
    return {name: None if lines is None else tuple(lines) for name, lines in found.items()}


def _join(top: str, names: bytes) -> list[str]:
    return [join_root(top, os.fsdecode(one)) for one in names.split(b"\0") if one]


def _require(folder: str, *arguments: str) -> bytes:
    """Return what git writes."""
    found, fault = _run(folder, *arguments)
    if found is None:
        raise InvalidInput(field=_FIELD, cause=f"git cannot compare {folder}: {fault}")
    return found


def _decode(line: bytes) -> str:
    return line.decode("ascii", "replace").strip()


def _run(folder: str, *arguments: str) -> tuple[bytes | None, str]:
    """Return what git writes, None when it fails, and its complaint."""
    program = shutil.which("git")
    if program is None:
        raise build_missing_program("git", "review --changed", "apt install git")
    variables = {name: text for name, text in os.environ.items() if name not in _LOCATIONS}
    variables |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_PAGER": "cat"}
    command = [program, "-C", folder, *_SAFE, *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - git, with arguments that are no shell's
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=variables,
            check=False,
            timeout=_DEADLINE_S,
        )
    except subprocess.TimeoutExpired as late:
        ms = int(_DEADLINE_S * 1000)
        raise TimedOut(operation="git", elapsed_ms=ms, deadline_ms=ms) from late
    lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
    fault = lines[0].removeprefix("fatal: ").removeprefix("error: ")
    return (done.stdout if done.returncode == 0 else None), fault
