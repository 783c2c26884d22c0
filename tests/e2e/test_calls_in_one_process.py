"""Calls that one process runs for different users' shells do not change each other."""

import json
import os
import random
import re
import shutil
import subprocess
import sys

import pytest

from tests.fakes.console import environment
from tests.shape.tree import ROOT

if sys.platform == "win32":
    pytest.skip("there is no warm process on Windows", allow_module_level=True)

ARGUMENTS = [
    ["search", "backup"],
    ["search", "backup", "--json"],
    ["search", "백업", "--format", "compact"],
    ["search", "backup", "--since", "2020-01-01"],
    ["search", "backup", "--no-such-flag"],
    ["search", "backup", "--color", "always"],
    ["search", "--help"],
    ["grep", "backup"],
    ["outline"],
    ["list", "--json"],
    ["fetch", "backups.md:1-3"],
    ["fetch", "no-such-file.md"],
    ["explain", "timeout"],
    ["schema", "--json"],
    ["ask", "how do backups work", "--json"],
]
VARIABLES = [
    {"KEBAB_LANG": "ko"},
    {"KEBAB_SEARCH_LIMIT": "2"},
    {"KEBAB_SEARCH_LIMIT": "none"},
    {"KEBAB_NO_SUCH_SETTING": "1"},
    {"KEBAB_ERRORS_REDACT_HOME": "true"},
    {"KEBAB_MODELS_LLM_PROVIDER": "extractive"},
    {"COLUMNS": "50"},
    {"FORCE_COLOR": "1"},
    {"NO_COLOR": "1"},
    {"TZ": "Asia/Seoul"},
]
SETTINGS = ["", "lang = 'zh'\n", "[search]\nlimit = 1\n", "[search]\nlimit = 'x'\n"]
TIMES = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=_ms\":)[\d.e-]+|(?<=_id\":\")\w+|[\d.]+ m?s\b"
    r"|(?<=\"sqlite\":)\d+|(?<=next_cursor\":\")[^\"]+"
)
CALLS = 8


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Two homes whose knowledge bases hold the same notes, and one without any."""
    homes = [tmp_path_factory.mktemp(name) for name in ("ann", "bob", "new")]
    for home in homes[:2]:
        shutil.copytree(ROOT / "samples" / "notes", home / "notes")
        line = [sys.executable, "-m", "kebab", "ingest", str(home / "notes")]
        environ = {**environment(home), "PYTHONPATH": str(ROOT)}
        subprocess.run(line, env=environ, check=True, capture_output=True, timeout=120)
    return homes


def draw_call(homes, source):
    home = source.choice(homes)
    environ = {**environment(home), "KEBAB_DAEMON_AUTO": "true", "OLLAMA_HOST": "127.0.0.1:1"}
    for more in source.sample(VARIABLES, source.randint(0, 2)):
        environ |= more
    if source.random() < 0.5:
        environ["KEBAB_CONFIG"] = str(home / "settings.toml")
    return {
        "arguments": source.choice(ARGUMENTS),
        "environ": environ,
        "folder": str(source.choice(homes)),
        "settings": source.choice(SETTINGS),
    }


def run_calls(calls):
    """Return what calls of one new process print, without times."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.calls_driver"],
        input=json.dumps(calls),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [
        (status, TIMES.sub("TIME", out), TIMES.sub("TIME", err))
        for status, out, err in json.loads(done.stdout)
    ]


def test_calls_in_one_process_print_what_each_prints_alone(homes):
    seed = random.randrange(1 << 32)
    source = random.Random(seed)
    calls = [draw_call(homes, source) for _ in range(CALLS)]

    together = run_calls(calls)

    for call, printed in zip(calls, together, strict=True):
        assert [printed] == run_calls([call]), f"seed {seed}: {call['arguments']}"
