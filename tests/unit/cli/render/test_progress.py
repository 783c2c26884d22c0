import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.progress import WorkStatus
from kebab.core.progress import Progress, ProgressKind

READING = Progress(kind=ProgressKind.ASSET_STARTED, path="a\x1b.md", done=1, total=3, unit="files")
FETCHING = Progress(kind=ProgressKind.MODEL_FETCH, done=1_000_000, total=2_000_000, unit="bytes")


@pytest.fixture
def log(tmp_path):
    with (tmp_path / "err").open("wb") as file:
        yield OutputChannel(file.fileno(), "<stderr>"), tmp_path / "err"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (READING, "reading 1/3 files, 4.2 s  a\ufffd.md"),
        (FETCHING, "downloading model 1.0 MB of 2.0 MB, 4.2 s"),
        (
            READING._replace(per_second=12.34, seconds_left=9.2),
            "reading 1/3 files, 12.3 files/s, about 9 s left  a\ufffd.md",
        ),
        (
            Progress(kind=ProgressKind.EMBED_BATCH, done=2, total=9, unit="chunks"),
            "embedding 2/9 passages, 4.2 s, search works already",
        ),
        (
            Progress(kind=ProgressKind.HEARTBEAT, phase="model"),
            "looking for an embedding model, 4.2 s",
        ),
        (
            Progress(kind=ProgressKind.HEARTBEAT, phase="model", message="words only"),
            "words only, 4.2 s",
        ),
    ],
)
def test_the_state_of_work_is_one_plain_line(log, event, text):
    status = WorkStatus(log[0], Canvas())
    status(event)
    status(Progress(kind=ProgressKind.COMPLETED))

    assert status.describe(4200) == text


def test_a_log_gets_a_line_when_something_begins_and_then_one_every_30_seconds(log):
    channel, path = log
    with WorkStatus(channel, Canvas()) as status:
        for elapsed in range(500, 62_000, 500):
            status(READING._replace(path=None, done=elapsed))
            status.show_heartbeat(elapsed)
        status(FETCHING)
        status.show_heartbeat(62_000)

    assert path.read_text().splitlines() == [
        "reading 1,000/3 files, 1.0 s",
        "reading 31,000/3 files, 31.0 s",
        "reading 61,000/3 files, 1 min 1 s",
        "downloading model 1.0 MB of 2.0 MB, 1 min 2 s",
    ]


def test_a_terminal_gets_one_line_after_a_second_which_is_removed(log):
    channel, path = log
    with WorkStatus(channel, Canvas(width=80, live=True)) as status:
        status(READING)
        status.show_heartbeat(900)
        status.show_heartbeat(1500)
        status(Progress(kind=ProgressKind.HEARTBEAT, phase="model", message="words only"))
        status.announce_stop()

    assert path.read_bytes().decode() == (
        "\r\x1b[Kreading 1/3 files, 1.5 s  a\ufffd.md"
        "\r\x1b[Kwords only\n"
        "stopping soon; Ctrl-C again leaves at once\n"
    )
