from kebab.cli.channels import Channel, Channels
from kebab.cli.events import Events
from kebab.cli.interrupt import Interrupts
from kebab.cli.render.progress import Lines
from kebab.cli.session import Session
from kebab.cli.work import display, working


def a_session(tmp_path, *, machine):
    descriptor = (tmp_path / "err").open("wb")
    channel = Channel(descriptor.fileno(), "<stderr>")
    session = Session(Channels(channel, channel), Interrupts(lambda: None))
    session.flags.machine = machine
    return session, descriptor


def test_a_machine_gets_events_and_a_log_gets_lines(tmp_path):
    for machine, form in ((True, Events), (False, Lines)):
        session, file = a_session(tmp_path, machine=machine)
        with file:
            assert isinstance(display(session, stream=False), form)


def test_an_interruption_reaches_the_work_and_is_told(tmp_path):
    session, file = a_session(tmp_path, machine=False)

    with file, working(session) as (_, cancel):
        session.interrupts.interrupt()

    assert cancel.requested
    assert (tmp_path / "err").read_text().startswith("stopping after the current document")


def test_leaving_at_once_ends_the_events(tmp_path):
    session, file = a_session(tmp_path, machine=True)

    with file, working(session, stream=True):
        session.on_leave()

    assert '"kind":"aborted"' in (tmp_path / "err").read_text()
