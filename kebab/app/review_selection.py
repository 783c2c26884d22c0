"""Builds what counts in a review.

That depends on the settings of the user and of repositories, and on changes against git.
"""

import os.path
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kebab.app.review_surroundings import ReviewSurroundings
from kebab.config.repository import FolderReview, RepositorySettings
from kebab.config.settings import Review, ReviewOverride
from kebab.core.files import resolve_links
from kebab.core.review import ReviewText, Span, Surroundings
from kebab.errors.catalog import ConfigInvalid, InvalidInput
from kebab.review.document import ReviewDocument
from kebab.review.prompts import CONTRADICTION, KINDS
from kebab.review.rules.registry import describe_unknown, select_rules
from kebab.review.rules.rule import Rule
from kebab.review.selection import FileRules, Selection
from kebab.text.globs import matches_glob
from kebab.wire.review import SeverityName

if TYPE_CHECKING:
    from kebab.source.changes import Lines


class RunSettings:
    """The settings for the files of a run; the own ones of a repository refine those of the user.

    Raises:
        ConfigInvalid: A setting names a rule that does not exist, or a file of settings is invalid.
    """

    def __init__(
        self,
        review: Review,
        rules: Sequence[Rule],
        repositories: RepositorySettings,
        named: Collection[str] | None,
    ) -> None:
        self._review = review
        self._rules = rules
        self._repositories = repositories
        self.is_named = named is not None
        self._checked: set[str] = set()
        kinds = {kind for tier in KINDS.values() for kind in tier}
        self.model_kinds = frozenset({*kinds, CONTRADICTION})
        known = {one.id for one in rules} | {one.kind for one in rules}
        applied = select_rules(named, review.disable, rules)
        self.applied = applied
        self._known = frozenset(known) | self.model_kinds
        self._check(review.severity, "review.severity")
        self._check_overrides(review.overrides, "review.overrides")

    def find_folder(self, file: str, root: str) -> FolderReview | None:
        """Return the settings of the repository of a file."""
        found = self._repositories.find(file, root)
        if found is not None and found.path not in self._checked:
            self._check([*found.review.disable, *found.review.severity], found.path)
            self._check_overrides(found.review.overrides, found.path)
            self._checked.add(found.path)
        return found

    def choose_rules(self, document: ReviewDocument) -> FileRules:
        """Return what the settings say about a document; rules named by the caller stay on."""
        source = document.source
        folder = self.find_folder(str(source.file), str(source.root))
        disabled: set[str] = set()
        severities = dict(self._review.severity)
        _apply_overrides(self._review.overrides, source, str(source.root), disabled, severities)
        if folder is not None:
            if not self.is_named:
                disabled |= set(folder.review.disable)
            severities |= folder.review.severity
            overrides = folder.review.overrides
            _apply_overrides(overrides, source, folder.folder, disabled, severities)
        return FileRules(frozenset(disabled), severities)

    def adapt(self, document: ReviewDocument, surroundings: Surroundings) -> Surroundings:
        """Return surroundings with the ages of the repository of a document."""
        folder = self.find_folder(str(document.source.file), str(document.source.root))
        days = folder.review.stale_days if folder else None
        if days is None or not isinstance(surroundings, ReviewSurroundings):
            return surroundings
        return surroundings.replace_stale_days(days)

    def _check_overrides(self, overrides: Iterable[ReviewOverride], path: str) -> None:
        for one in overrides:
            self._check([*one.disable, *one.severity], path)

    def _check(self, names: Iterable[str], path: str) -> None:
        for cause in describe_unknown(names, self._known):
            raise ConfigInvalid(path=path, cause=cause)


def _apply_overrides(
    overrides: Iterable[ReviewOverride],
    source: ReviewText,
    folder: str,
    disabled: set[str],
    severities: dict[str, SeverityName],
) -> None:
    """Add what the overrides for a file say; their patterns start from a folder."""
    absolute = str(source.file)
    prefix = f"{folder.rstrip('/')}/"
    relative = absolute.removeprefix(prefix)
    for one in overrides:
        if any(_matches(pattern, relative, absolute) for pattern in one.files):
            disabled |= set(one.disable)
            severities |= one.severity


def _matches(pattern: str, relative: str, absolute: str) -> bool:
    """Return whether a pattern means a file; without a slash it is the name in any folder."""
    if pattern.startswith("/"):
        return matches_glob(pattern, absolute)
    name = relative.rpartition("/")[2]
    return matches_glob(pattern.removeprefix("./"), relative if "/" in pattern else name)


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
        found |= list_changes(repository, [_find_common_folder(below)])
        if len(groups) == 1 and repository.has_commit:
            base = repository.base
    return RunChanges(
        {file: found[file] for file in map(resolve_links, files) if file in found}, base
    )


def _find_common_folder(files: Sequence[str]) -> str:
    return os.path.commonpath([file.rpartition("/")[0] or "/" for file in files])


def build_selection(settings: RunSettings, changes: RunChanges | None) -> Selection:
    """Return what counts in a run."""
    return Selection(
        choose_rules=settings.choose_rules,
        list_changed=changes.list_lines if changes else lambda _: None,
        keep_doubtful=settings.is_named,
    )
