"""A review through the command line against llama.cpp's server with a small real model.

The tier `quick` asks a part of what `deep` asks; `test_review_model.py` runs `deep`.
"""

import pytest

from tests.live.llama_server import ALIAS
from tools.review_runs import build_environment, find_faults, record

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("llama")]

_SHORT_WINDOW = 512
"""A response takes half of the window at most, so a model that does not end costs little."""

TEXT = "# Backup \U0001f600\r\n\r\nTeh the the disk, 백업.\r\n"
DEADLINE_S = 180.0


def test_the_stream_of_a_review_keeps_the_contract(llama, tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(TEXT.encode())
    environ = build_environment(tmp_path, llama.url, ALIAS, _SHORT_WINDOW)
    shown = record(["review", str(file), "--tier", "quick", "--stream"], environ, DEADLINE_S)

    assert list(find_faults(shown, TEXT)) == []
    assert shown.status == 1
