import pytest

from kebab.core import own_process


def test_a_process_that_serves_others_refuses_their_own_work(monkeypatch):
    own_process.require_own_process()
    monkeypatch.setattr(own_process, "_refusing", False)
    own_process.refuse_own_work()

    with pytest.raises(own_process.RunCold):
        own_process.require_own_process()
