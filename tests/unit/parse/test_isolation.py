import pickle
import threading

import pytest

from kebab import platform
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.limits import worker
from kebab.limits.worker import Limits
from kebab.parse import isolation
from kebab.parse.isolation import parse_guarded
from tests.fakes.hostile_parsers import AlarmedParser, HostileParser

LIMITS = Limits(deadline_s=20, max_memory_mb=200)


def parse(text, limits=LIMITS, parser=None):
    return parse_guarded(parser or HostileParser(), text.encode(), "a.pdf", limits)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("crash", "the parser crashed (signal 11)"),
        ("refuse encrypted", "encrypted"),
        ("allocate 900", "needs more than 200 MB of memory"),
    ],
)
def test_what_happens_to_the_worker_is_an_error_of_the_file(text, cause, monkeypatch):
    if "memory" in cause:
        # That of the tests may be higher.
        monkeypatch.setattr(platform, "read_peak_memory", lambda: 0)
    with pytest.raises(ParseFailed) as caught:
        parse(text)

    assert (caught.value.cause, caught.value.parser) == (cause, "hostile-v1")


def test_a_missing_library_keeps_its_command():
    with pytest.raises(DependencyMissing) as caught:
        parse("miss")

    assert caught.value.install == "pip install 'kebab[pdf]'"


@pytest.mark.parametrize("text", ["hang", "wait 60", "burn", "grind"])
def test_the_deadline_holds_on_every_thread(text, monkeypatch):
    monkeypatch.setattr(worker, "GRACE_S", 0.2)
    monkeypatch.setattr("kebab.limits.deadline.WALL_FACTOR", 4)
    caught = []

    def run():
        try:
            parse(text, Limits(deadline_s=0.2, max_memory_mb=200))
        except TimedOut as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)

    assert [error.path for error in caught] == ["a.pdf"]
    assert caught[0].elapsed_ms >= 200


def test_a_file_that_waits_longer_than_its_processor_time_is_read():
    assert parse("wait 0.8", Limits(deadline_s=0.4, max_memory_mb=200)).text == "wait 0.8"


def test_without_a_worker_the_file_is_parsed_here(monkeypatch):
    monkeypatch.setattr("sys.executable", "/absent/python")

    assert parse("words").text == "words"


def test_other_parsers_run_here(monkeypatch):
    monkeypatch.setattr(isolation, "WorkerProcess", None)

    assert parse("words", parser=AlarmedParser()).text == "words"


def test_nothing_that_a_parser_prints_is_seen(capfd):
    parse("print secret")

    assert capfd.readouterr() == ("", "")


def test_an_error_survives_its_way_to_another_process():
    error = pickle.loads(pickle.dumps(ParseFailed(path="a", parser="p", cause="c")))

    assert (error.path, error.parser, error.cause, str(error)) == (
        "a",
        "p",
        "c",
        str(ParseFailed(path="a", parser="p", cause="c")),
    )
