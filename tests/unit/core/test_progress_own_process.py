import pytest

from kebab.core import progress


def test_a_process_that_serves_others_refuses_their_own_work(monkeypatch):
    progress.require_own_process()
    monkeypatch.setattr(progress, "_refusing", False)
    progress.refuse_own_work()

    with pytest.raises(progress.RunCold):
        progress.require_own_process()
