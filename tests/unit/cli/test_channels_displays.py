import pytest

from kebab.cli.channels import Display, WorkDisplay
from kebab.core.progress import Progress, ProgressKind
from kebab.wire.ask import AnswerEvent


def test_a_display_returns_itself_and_ends_without_an_effect():
    display = Display[AnswerEvent]()

    with display as entered:
        entered.abort()

    assert entered is display


def test_a_display_of_work_must_show_events_and_may_ignore_the_end():
    display = WorkDisplay()
    display.announce_stop()
    display.finish(0, cancelled=False)

    with pytest.raises(NotImplementedError):
        display(Progress(kind=ProgressKind.HEARTBEAT))


def test_a_display_of_an_answer_must_show_events_and_may_ignore_heartbeats():
    display = Display[AnswerEvent]()
    display.show_heartbeat(1.0)

    with pytest.raises(NotImplementedError):
        display(AnswerEvent(type="token", delta="a"))
