from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.progress import IngestEvents, choose_work_display, report_cancellable_work
from kebab.cli.render.progress import ProgressLines


def a_context(tmp_path, *, machine):
    descriptor = (tmp_path / "err").open("wb")
    channel = OutputChannel(descriptor.fileno(), "<stderr>")
    context = CommandContext(OutputChannels(channel, channel), Interrupts(lambda: None))
    context.flags.machine = machine
    return context, descriptor


def test_a_machine_gets_events_and_a_log_gets_lines(tmp_path):
    for machine, form in ((True, IngestEvents), (False, ProgressLines)):
        context, file = a_context(tmp_path, machine=machine)
        with file:
            assert isinstance(choose_work_display(context, stream=False), form)


def test_an_interruption_reaches_the_work_and_is_reported(tmp_path):
    context, file = a_context(tmp_path, machine=False)

    with file, report_cancellable_work(context) as (_, cancel):
        context.interrupts.interrupt()

    assert cancel.requested
    assert (tmp_path / "err").read_text().startswith("stopping soon")


def test_leaving_at_once_ends_the_events(tmp_path):
    context, file = a_context(tmp_path, machine=True)

    with file, report_cancellable_work(context, stream=True):
        context.on_abort()

    assert '"kind":"aborted"' in (tmp_path / "err").read_text()
