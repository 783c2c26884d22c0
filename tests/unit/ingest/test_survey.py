import pytest

from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.ingest.plan import FileTask, Plan
from kebab.ingest.survey import survey_languages
from tests.fakes.hostile_parsers import HostileParser

ENGLISH = "The meeting is moved to Friday, and the notes of it are in the usual folder.\n"
KOREAN = "회의는 금요일로 미뤄졌고 자료는 늘 쓰던 폴더에 있습니다.\n"
SOURCE = Source(name="notes", root="/notes", kind="folder")


@pytest.fixture
def survey(desk):
    def run(*names, media="text/markdown"):
        tasks = []
        for name in names:
            path = desk.root / name
            stat = path.stat()
            entry = FileEntry(name, str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino, media)
            tasks.append(FileTask(kind="new", source=SOURCE, entry=entry))
        ports = desk.ports()
        return survey_languages(Plan(tasks=tasks), desk.library, ports.parsers, ports.guard)

    return run


def test_files_count_by_their_bytes(desk, survey):
    desk.write("en.md", ENGLISH * 100)
    desk.write("ko.md", KOREAN * 10)

    found = survey("en.md", "ko.md")

    assert found.keys() == {"en", "ko"}
    assert sum(found.values()) == pytest.approx(
        sum((desk.root / name).stat().st_size for name in ("en.md", "ko.md")), rel=0.01
    )
    assert found["en"] > 5 * found["ko"]


def test_of_many_files_some_at_equal_steps_are_read(desk, survey):
    names = [f"{number:04}.md" for number in range(600)]
    for number, name in enumerate(names):
        desk.write(name, KOREAN if number < 300 else ENGLISH)

    found = survey(*names)

    assert found["ko"] > 0
    assert found["en"] > 0


def test_files_of_isolated_parsers_count_with_texts(desk, survey):
    desk.parsers["application/pdf"] = HostileParser()
    desk.write("ko.pdf", KOREAN * 10)

    assert survey("ko.pdf", media="application/pdf").keys() == {"ko"}
