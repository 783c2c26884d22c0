"""What the processes and the folders of a home use is measured by kinds."""

import os
import subprocess
import sys

import pytest

from tools.surfaces.resources import (
    list_servers,
    measure_folders,
    measure_processes,
    read_processor_ms,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_the_servers_of_a_home_are_found_by_their_command_lines(tmp_path):
    code = "print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--http"],
        env={"HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert list_servers(tmp_path) == {process.pid: "http"}
        process.kill()


def test_a_descriptor_more_is_counted_by_its_kind(tmp_path):
    servers = {os.getpid(): "http"}
    before = measure_processes(servers)
    with (tmp_path / "file").open("w"):
        reading, writing = os.pipe()
        after = measure_processes(servers)
        os.close(reading)
        os.close(writing)

    assert after["http files"] == before["http files"] + 1
    assert after["http pipes"] == before["http pipes"] + 2
    assert after["http MB"] > 1
    assert (after["http processes"], after["http threads"] >= 1) == (1, True)
    assert read_processor_ms(servers)[os.getpid()] > 0


def test_a_process_that_ended_has_no_measurements():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert measure_processes({process.pid: "http"}) == {"http processes": 1}
    assert read_processor_ms({process.pid: "http"}) == {}


def test_logs_versions_and_the_write_ahead_log_are_measured_apart(tmp_path):
    versions = tmp_path / "data" / "vectors.lance" / "_versions"
    versions.mkdir(parents=True)
    (tmp_path / "state").mkdir()
    for path, size in (
        (versions / "1.manifest", 10),
        (versions / "2.manifest", 10),
        (tmp_path / "data" / "kebab.sqlite-wal", 1024 * 1024),
        (tmp_path / "state" / "errors.log", 512 * 1024),
    ):
        path.write_bytes(b"x" * size)

    found = measure_folders(tmp_path)

    assert (found["lance versions"], found["data files"], found["state files"]) == (2, 3, 1)
    assert (found["wal MB"], found["log MB"], found["state MB"]) == (1.0, 0.5, 0.5)
