"""Finds the files and lines that changed against git, which a review is limited to."""

import os.path
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kebab.core.files import resolve_links
from kebab.core.review import Span
from kebab.errors.catalog import InvalidInput
from kebab.review.document import ReviewDocument

if TYPE_CHECKING:
    from kebab.source.changes import Lines


class RunChanges(NamedTuple):
    """The changed files of a run with their lines, and the revision to compare with again."""

    lines: Mapping[str, "Lines | None"]
    revision: str

    def list_lines(self, document: ReviewDocument) -> Sequence[Span] | None:
        """Return the changed lines of a document; None when all count."""
        return self.lines.get(resolve_links(str(document.source.file)), ())


def find_changes(files: Sequence[str], revision: str, names: Sequence[str] = ()) -> RunChanges:
    """Ask git which of the files changed since a revision; `names` are folders without any.

    Raises:
        InvalidInput: A file is in no work tree, or git does not know the revision.
        DependencyMissing: There is no git.
    """
    from kebab.source.changes import find_repository, find_work_tree, list_changes

    groups: defaultdict[str, list[str]] = defaultdict(list)
    trees: dict[str, str | None] = {}
    probes = files or [f"{resolve_links(name)}/_" for name in names]
    for file in map(resolve_links, probes):
        folder = file.rpartition("/")[0]
        if folder not in trees:
            trees[folder] = find_work_tree(file)
        top = trees[folder]
        if top is None:
            cause = f"it is in no work tree of git: {folder}"
            raise InvalidInput(field="$.changed", cause=cause)
        groups[top].append(file)
    found: dict[str, Lines | None] = {}
    base = revision
    for top, below in groups.items():
        repository = find_repository(top, revision)
        folder = os.path.commonpath([file.rpartition("/")[0] or "/" for file in below])
        found |= list_changes(repository, [folder])
        if len(groups) == 1 and repository.has_commit:
            base = repository.base
    return RunChanges(
        {file: found[file] for file in map(resolve_links, files) if file in found}, base
    )
