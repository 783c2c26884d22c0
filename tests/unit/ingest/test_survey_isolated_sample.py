import os

import pytest

from kebab.core.files import FileEntry
from kebab.ingest.survey import ISOLATED_SAMPLE_FILES, TextMeter, survey_isolated
from kebab.parse.registry import PARSERS, guard_parser
from tests.fakes.hostile_parsers import MEDIA, HostileParser

ENGLISH = "The meeting is moved to Friday, and the notes of it are in the usual folder.\n"
KOREAN = "회의는 금요일로 미뤄졌고 자료는 늘 쓰던 폴더에 있습니다.\n" * 20
KOREAN_BYTES = len(KOREAN.encode())


@pytest.fixture
def survey(desk, monkeypatch):
    monkeypatch.setattr("kebab.ingest.survey._FILE_SECONDS", 3.0)  # of a busy machine
    monkeypatch.setattr("kebab.ingest.survey._ISOLATED_SECONDS", 60.0)

    def run(*names, media="text/html", parsers=PARSERS):
        entries = []
        for name in names:
            path = desk.root / name
            stat = path.stat()
            entries.append(
                FileEntry(name, str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino, media)
            )
        return survey_isolated(entries, TextMeter(parsers, guard_parser))

    return run


@pytest.fixture
def ask_hostile(survey):
    return lambda *names: survey(*names, media=MEDIA, parsers={MEDIA: HostileParser()})


def write_page(desk, name, text):
    desk.write(name, f"<html><style>{'x' * 20_000}</style><body><p>{text}</p></body></html>")


def test_of_many_files_few_are_read_and_all_count(desk, survey):
    names = [f"{number:02}.html" for number in range(2 * ISOLATED_SAMPLE_FILES)]
    for name in names:
        write_page(desk, name, KOREAN)

    assert survey(*names) == {"ko": pytest.approx(len(names) * KOREAN_BYTES, rel=0.1)}


@pytest.mark.parametrize("fate", ["hang", "crash", "leave 3"])
def test_a_file_that_ends_the_worker_ends_the_survey_in_time(desk, ask_hostile, fate):
    desk.write("1.pdf", KOREAN)
    desk.write("2.pdf", fate)
    desk.write("3.pdf", ENGLISH)

    assert ask_hostile("1.pdf", "2.pdf", "3.pdf").keys() == {"ko"}


def test_without_room_for_a_process_nothing_is_surveyed(desk, ask_hostile, monkeypatch):
    desk.write("1.pdf", KOREAN)

    def refuse(*_):
        raise BlockingIOError

    monkeypatch.setattr(os, "pipe", refuse)
    assert ask_hostile("1.pdf") == {}
