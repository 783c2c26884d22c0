"""The one table of what the model hub's client can raise while it downloads, in plain words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

CAUSES: Mapping[str, str] = {
    "BadRequestError": "the hub does not understand the request",
    "DisabledRepoError": "the hub has switched the repository off",
    "EntryNotFoundError": "the hub lacks a file of the model",
    "FileMetadataError": "the hub does not say what a file is",
    "GatedRepoError": "the hub gives the model only to those whom it knows",
    "HFValidationError": "the hub can have no repository of this name",
    "HfHubHTTPError": "the hub failed",
    "LocalEntryNotFoundError": "the hub could not be asked",
    "LocalTokenNotFoundError": "the hub wants a token, and there is none",
    "OfflineModeIsEnabled": "the hub may not be asked while `HF_HUB_OFFLINE` is set",
    "RemoteEntryNotFoundError": "the hub lacks a file of the model",
    "RepositoryNotFoundError": "the hub lacks the repository",
    "RevisionNotFoundError": "the hub lacks the revision",
    "RevisionResolutionError": "the hub does not say which revision is the latest",
    "XetDownloadError": "the hub failed to send a file",
}
"""Each exception by its name; each text begins with the same words, by which it is found."""

TELLING = r"^the hub "
"""What a line of `CAUSES` is told by."""


@contextmanager
def worded() -> Iterator[None]:
    """Print in plain words what the client raises within, before it goes on its way."""
    from huggingface_hub import errors

    kinds = tuple(getattr(errors, name) for name in CAUSES if hasattr(errors, name))
    try:
        yield
    except kinds as error:
        print(words(error), flush=True)  # noqa: T201 - the parent reads it
        raise


def words(error: Exception) -> str:
    """Return what an exception of the client says, by its nearest ancestor in the table."""
    names = (kind.__name__ for kind in type(error).__mro__)
    cause = next(CAUSES[name] for name in names if name in CAUSES)
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"{cause}: HTTP {status}" if status else cause
