import builtins
import resource
import shutil
import socket
import ssl

import pytest

from kebab.errors.catalog import IoError
from kebab.errors.system import (
    build_memory_error,
    is_memory_fault,
    translate_os_errors,
)

SYSTEM = sorted(
    {
        kind
        for kind in vars(builtins).values()
        if isinstance(kind, type) and issubclass(kind, OSError)
    }
    | {shutil.Error, socket.gaierror, socket.herror, ssl.SSLError},
    key=lambda kind: kind.__name__,
)
"""Every exception of the operating system that Python knows, and those of its own libraries."""


@pytest.mark.parametrize("kind", SYSTEM, ids=lambda kind: kind.__name__)
def test_every_exception_of_the_system_is_translated(kind):
    fault = kind(13, "Permission denied", "a.md")

    with pytest.raises(IoError) as caught, translate_os_errors("a.md", "write"):
        raise fault

    assert caught.value.__cause__ is fault
    assert caught.value.op == "write"


@pytest.mark.parametrize(
    ("limit", "words"), [(-1, "there is not enough memory: ask"), (1 << 20, "may use 1048576")]
)
def test_a_lack_of_memory_names_the_operation_and_the_limit(limit, words, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, -1))
    signal = build_memory_error("ask")

    assert words in signal.format_message()
    assert ("ulimit" in (signal.format_hint() or "")) is (limit > 0)


@pytest.mark.parametrize(
    ("fault", "lacking"),
    [
        (MemoryError(), True),
        (RuntimeError("can't start new thread"), True),
        (OSError(13, "Permission denied"), False),
        (RuntimeError("a bug"), False),
    ],
)
def test_a_lack_of_memory_is_recognised_in_every_form(fault, lacking):
    assert is_memory_fault(fault) is lacking
