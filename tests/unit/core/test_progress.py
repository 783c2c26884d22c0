from kebab.core.progress import Progress, ProgressKind, silent


def test_silence_takes_any_event():
    assert silent(Progress(kind=ProgressKind.COMPLETED)) is None
