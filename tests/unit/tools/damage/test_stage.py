import pytest

from tools.damage.stage import Stage


def test_a_failed_call_is_no_reply(tmp_path):
    stage = Stage(tmp_path)
    with stage.enter(), pytest.raises(AssertionError):
        stage.call("list")
