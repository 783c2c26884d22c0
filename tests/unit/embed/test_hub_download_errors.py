import inspect
import re

import httpx
import pytest
from huggingface_hub import errors

from kebab.embed.hub_download import CAUSES, MESSAGE_PATTERN, print_errors

ELSEWHERE = {
    "the cache, which is not used: files go to a folder": {
        "CacheNotFound",
        "CachedRepoTreeNotFoundError",
        "CorruptedCacheException",
        "IncompleteSnapshotError",
    },
    "the hub's own command line": {"CLIError", "CLIExtensionInstallError", "ConfirmationError"},
    "logging in": {"DeviceCodeError", "OIDCError"},
    "running models, jobs and sandboxes on the hub": {
        "GenerationError",
        "IncompleteGenerationError",
        "InferenceEndpointError",
        "InferenceEndpointTimeoutError",
        "InferenceTimeoutError",
        "JobNotFoundError",
        "OverloadedError",
        "SandboxCommandError",
        "SandboxError",
        "TextGenerationError",
        "UnknownError",
        "ValidationError",
    },
    "sending files, and storage that is no repository": {
        "BucketBatchError",
        "BucketNotFoundError",
        "DryRunError",
        "FileDuplicationError",
        "HfUriError",
    },
    "formats that are read elsewhere": {
        "DDUFCorruptedFileError",
        "DDUFError",
        "DDUFExportError",
        "DDUFInvalidEntryNameError",
        "NotASafetensorsRepoError",
        "SafetensorsParsingError",
    },
    "a programmer's own declarations": {
        "StrictDataclassClassValidationError",
        "StrictDataclassDefinitionError",
        "StrictDataclassError",
        "StrictDataclassFieldValidationError",
    },
}
"""What the client raises at work that is not ours, by that work."""

OWN = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, Exception) and kind.__module__ == errors.__name__
}


def made(kind):
    if issubclass(kind, httpx.HTTPError):
        return kind("words", response=httpx.Response(500, request=httpx.Request("GET", "http://h")))
    return kind("words")


def test_every_exception_of_the_client_is_in_the_table_or_belongs_elsewhere():
    elsewhere = set().union(*ELSEWHERE.values())

    assert set(OWN) == set(CAUSES) | elsewhere
    assert not set(CAUSES) & elsewhere


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_every_exception_prints_its_message_and_is_raised_again(name, capsys):
    fault = made(OWN[name])

    with pytest.raises(OWN[name]) as caught, print_errors():
        raise fault

    assert caught.value is fault
    status = ": HTTP 500" if isinstance(fault, httpx.HTTPError) else ""
    assert capsys.readouterr().out == f"{CAUSES[name]}{status}\n"
    assert re.match(MESSAGE_PATTERN, CAUSES[name])


def test_a_newer_exception_has_the_message_of_its_nearest_parent(capsys):
    class Newer(errors.RepositoryNotFoundError):  # type: ignore[misc]
        pass

    with pytest.raises(Newer), print_errors():
        raise made(Newer)

    assert capsys.readouterr().out == "the hub does not have the repository: HTTP 500\n"
