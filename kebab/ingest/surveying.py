"""All scopes of a run looked at, one unreadable root not spoiling the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kebab.core.rows import Source
from kebab.errors.catalog import IoError, TooLarge, UnsupportedMedia
from kebab.errors.refusal import unfit
from kebab.ingest.outcome import FileOutcome, ItemKind
from kebab.ingest.request import IngestRequest
from kebab.ingest.scopes import Knowledge, Scope
from kebab.ingest.survey import Survey, Surveyor
from kebab.source.media import suffix_of


@dataclass(slots=True)
class Surveys:
    """What could be looked at, and the roots that could not."""

    scopes: Sequence[Scope]
    looked: list[Survey] = field(default_factory=list)
    refused: list[FileOutcome] = field(default_factory=list)


def survey_all(
    scopes: Sequence[Scope],
    request: IngestRequest,
    knowledge: Knowledge,
    tick: Callable[[], None],
) -> Surveys:
    """Return every scope beside what is known of it.

    Raises:
        IoError: A root cannot be read or is suddenly empty; when the caller named none and others
            can be read, it becomes an item instead.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser takes the only file named.
    """
    sources = _all_sources(scopes, knowledge)
    surveyor = Surveyor(request, knowledge, tick)
    surveys = Surveys(scopes)
    for scope in scopes:
        try:
            surveys.looked.append(surveyor.look(scope, sources))
        except IoError as failure:
            if request.paths or len(scopes) == 1:
                raise
            surveys.refused.append(_refused(scope, failure))
    if not surveys.looked and surveys.refused:
        error = surveys.refused[0].error
        assert error is not None, "a refused root has its error"
        raise error
    if only_file(request, scopes):
        _refuse_unfit(surveys.looked[0], request)
    return surveys


def only_file(request: IngestRequest, scopes: Sequence[Scope]) -> bool:
    """Return whether the caller named one file and nothing else."""
    return len(request.paths) == 1 and len(scopes) == 1 and scopes[0].files is not None


def _all_sources(scopes: Sequence[Scope], knowledge: Knowledge) -> list[Source]:
    by_name = {source.name: source for source in knowledge.sources()}
    by_name.update((scope.source.name, scope.source) for scope in scopes)
    return list(by_name.values())


def _refused(scope: Scope, failure: IoError) -> FileOutcome:
    return FileOutcome(
        kind=ItemKind.ERROR, doc_path=scope.place, source=scope.source.name, error=failure
    )


def _refuse_unfit(survey: Survey, request: IngestRequest) -> None:
    """Raise what is wrong with the only file that was named."""
    place, reasons = survey.scope.place, survey.found.skips.by_reason
    if reasons["unsupported"] or reasons["special_file"]:
        suffix = suffix_of(place.rpartition("/")[2])
        media = suffix or "no extension"
        raise UnsupportedMedia(path=place, media=media)
    if reasons["over_limit"]:
        size = survey.found.largest
        raise TooLarge(what=place, size=size, limit=request.rules.max_file_bytes)
    if reasons["unreadable"]:
        raise unfit(place, "permission denied")
