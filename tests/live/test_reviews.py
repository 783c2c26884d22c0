"""A review through the command line against llama.cpp's server with a small real model."""

import json
import os
import subprocess
import sys

import pytest

from tests.live.llama_server import ALIAS

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("llama")]

_SHORT_WINDOW = 512
"""A response takes half of the window at most, so a model that does not end costs little."""

TEXT = "# Backup \U0001f600\r\n\r\nTeh [disk](gone.md), 백업.\r\n"
DEADLINE_S = 180.0


def test_the_stream_of_a_review_keeps_the_contract(llama, tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(TEXT.encode())
    settings = {
        "KEBAB_OFFLINE": "true",
        "KEBAB_DATA_DIR": str(tmp_path / "data"),
        "KEBAB_MODELS_LLM_PROVIDER": "openai",
        "KEBAB_MODELS_LLM_ENDPOINT": llama.url,
        "KEBAB_MODELS_LLM_MODEL": ALIAS,
        "KEBAB_MODELS_LLM_CONTEXT_TOKENS": str(_SHORT_WINDOW),
    }
    done = subprocess.run(
        [sys.executable, "-m", "kebab", "review", str(file), "--stream"],
        env={**os.environ, "HOME": str(tmp_path), **settings},
        capture_output=True,
        timeout=DEADLINE_S,
        check=False,
    )

    events = list(map(json.loads, done.stdout.splitlines()))
    assert done.returncode == 1
    assert [event["type"] for event in events].count("end") == 1
    assert events[-1]["type"] == "end"
    units = len(TEXT.encode("utf-16-le")) // 2
    pages = [event["data"] for event in events if event["type"] == "items"]
    assert "broken-link" in {item.get("rule_id") for page in pages for item in page["items"]}
    assert all(0 <= item["o"][0] <= item["o"][1] <= units for one in pages for item in one["items"])
