from time import process_time

import pytest

from kebab.errors import signal
from kebab.errors.catalog import IoError
from kebab.errors.signal import UNKNOWN_CAUSE, clean_cause

CARGO = "/home/runner/.cargo/registry/src/index.crates.io-6f17/lance-io-0.30.0/src/local.rs:178:23"

ARENA = (
    "/onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 "
    "onnxruntime::BFCArena::AllocateRawInternal(size_t, bool)"
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("rust future panicked: unknown error", UNKNOWN_CAUSE),
        (
            "thread 'lance-cpu' panicked at /root/.cargo/x/lib.rs:1:2:\nindex out of bounds",
            UNKNOWN_CAUSE,
        ),
        (
            f"lance error: LanceError(IO): Generic LocalFileSystem error: no space left, {CARGO}",
            "Generic LocalFileSystem error: no space left",
        ),
        (f"Not found: data/x.lance, {CARGO}", "Not found: data/x.lance"),
        ("No such file or directory (os error 2)", "No such file or directory"),
        ("[Errno 2] No such file or directory: '/a b'", "No such file or directory: '/a b'"),
        ("[Errno -2] Name or service not known", "Name or service not known"),
        (
            "[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Load model from /m/model.onnx failed",
            "Load model from /m/model.onnx failed",
        ),
        (
            f"[ONNXRuntimeError] : 6 : FAIL : Exception during initialization: {ARENA} Failed",
            "Exception during initialization: Failed",
        ),
        (
            "argument must be str, not <class 'pathlib.PosixPath'>",
            "argument must be str, not PosixPath",
        ),
        ("cannot pickle <kebab.x.Y object at 0x7f00aa11bb22>", "cannot pickle Y"),
        ("ValueError: embedded null byte", "embedded null byte"),
        ("apsw.CorruptError: database disk image is malformed", "database disk image is malformed"),
        ("SQLITE_CORRUPT: disk image is malformed", "disk image is malformed"),
        ("called `Result::unwrap()` on an `Err` value: no memory", "no memory"),
        (
            'Traceback (most recent call last):\n  File "/x/y.py", line 3, in f\nKeyError: 3',
            "3",
        ),
        ("ValueError:", UNKNOWN_CAUSE),
        ("", ""),
        # What people wrote, and what kebab words itself, stays.
        ("`search.limit`: Expected `int` >= 1", "`search.limit`: Expected `int` >= 1"),
        (
            "not TOML: Expected '=' (at line 1, column 3)",
            "not TOML: Expected '=' (at line 1, column 3)",
        ),
        ("no such folder", "no such folder"),
        ("the file C:/notes/plan.md:3 is a link", "the file C:/notes/plan.md:3 is a link"),
        ("model 'ValueError: x' not found", "model 'ValueError: x' not found"),
        ("권한이 없습니다: /메모/a.md", "권한이 없습니다: /메모/a.md"),
    ],
)
def test_the_text_of_a_library_becomes_a_cause_for_people(text, cause):
    assert clean_cause(text) == cause
    assert clean_cause(cause) == cause


def test_every_error_cleans_its_cause():
    raised = IoError(path="/x", op="read", cause=f"[Errno 5] Input/output error, {CARGO}")

    assert raised.details()["cause"] == "Input/output error"
    assert ".cargo" not in raised.format_message()


@pytest.mark.parametrize("piece", ["a/", "<class 'a."])
def test_the_time_grows_with_the_length_and_not_with_its_square(piece, monkeypatch):
    monkeypatch.setattr(signal, "_MAX_CHARS", 10**9)
    seconds = []
    for length in (8_000, 64_000):
        text = (piece * length)[:length]
        times = []
        for _ in range(3):
            started = process_time()
            clean_cause(text)
            times.append(process_time() - started)
        seconds.append(min(times))

    # Eight times the length takes about eight times as long; a quadratic pattern takes 64 times.
    assert seconds[1] < 32 * seconds[0] + 0.005


def test_a_very_long_cause_is_cut():
    assert clean_cause("word " * 50_000) == ("word " * 800)[:3_999] + "…"
