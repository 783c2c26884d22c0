import pytest

from tools.published_kills import run_rounds


@pytest.mark.timeout(300)
def test_readers_see_one_whole_snapshot_after_kills(monkeypatch, tmp_path):
    for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))

    assert sum(run_rounds(3, seed=3).values()) == 3
