"""Operations that change the knowledge base pass on how they are cancelled and who is told."""

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.core.progress import Cancel
from kebab.wire.ingest import IngestRequest


def test_a_cancelled_run_is_passed_on(lab):
    lab.write("a.md", "the cat\n")
    cancel = Cancel()
    cancel.request()
    kinds: list[str] = []
    with Kebab(load_settings(environ={}, flags=lab.flags), config_path=lab.config) as kebab:
        report = kebab.run(
            IngestRequest(paths=[str(lab.notes)]),
            report=lambda event: kinds.append(event.kind),
            cancel=cancel,
        )

    assert report.cancelled
    assert kinds[-1] == "aborted"
