import os
import threading
import time

import pytest

from kebab.config import settings_file
from kebab.config.load import iter_setting_keys, load_settings
from kebab.config.settings import Settings
from kebab.config.settings_file import (
    build_toml,
    find_line,
    iter_documented_settings,
    read_settings_text,
)
from kebab.errors.catalog import ConfigInvalid

TEXT = """\
# limit = 1
offline = true
models.llm.model = "x"

[search]
mode = "lexical"
"limit" = 3

[models.embedding]
threads = 2
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("offline", 2),
        ("models.llm.model", 3),
        ("models.llm", 3),
        ("search", 5),
        ("search.limit", 7),
        ("models.embedding.threads", 10),
        ("ask.limit", None),
    ],
)
def test_the_line_of_a_key_is_found(key, line):
    assert find_line(TEXT, key) == line


def test_text_in_another_encoding_is_refused_with_its_line(tmp_path):
    path = tmp_path / "c.toml"
    path.write_bytes(b'a = "x"\nb = "\xff"\n')

    with pytest.raises(ConfigInvalid, match="line 2 is not UTF-8"):
        read_settings_text(path)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(settings_file, "DEADLINE_S", 0.2)


@pytest.mark.usefixtures("short")
@pytest.mark.timeout(10)
def test_a_pipe_that_nobody_writes_to_is_given_up(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    started = time.monotonic()

    with pytest.raises(ConfigInvalid, match="the pipe was not closed"):
        read_settings_text(path)
    assert time.monotonic() - started < 2


@pytest.mark.usefixtures("short")
@pytest.mark.timeout(10)
def test_a_pipe_that_stays_open_is_given_up(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    os.write(writer, b"offline = true\n")

    try:
        with pytest.raises(ConfigInvalid, match="was not closed"):
            read_settings_text(path)
    finally:
        os.close(writer)


@pytest.mark.timeout(10)
def test_a_pipe_that_is_written_in_time_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Timer(0.1, lambda: path.write_text("offline = true\n"))
    writer.start()

    assert read_settings_text(path) == "offline = true\n"
    writer.join()


@pytest.mark.timeout(10)
@pytest.mark.parametrize("path", ["/dev/zero", "long"])
def test_an_endless_file_is_refused(tmp_path, path):
    (tmp_path / "long").write_bytes(b"#" * (settings_file.MOST_BYTES + 1))

    with pytest.raises(ConfigInvalid, match="more than 1,048,576 bytes"):
        read_settings_text(tmp_path / path)


def test_a_folder_and_a_missing_file_are_errors_of_the_system(tmp_path):
    with pytest.raises(IsADirectoryError):
        read_settings_text(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_settings_text(tmp_path / "none")


def test_every_setting_is_documented_in_file_and_table():
    keys = [setting.key for setting in iter_documented_settings()]

    assert keys == list(iter_setting_keys())
    assert all(setting.text for setting in iter_documented_settings())


def test_every_uncommented_line_sets_a_default(tmp_path):
    path = tmp_path / "config.toml"
    lines = build_toml().splitlines()
    taken = [line[2:] if " = " in line and line.startswith("# ") else line for line in lines]
    path.write_text("\n".join(line for line in taken if not line.startswith(("A ", "Every"))))

    assert load_settings(path, environ={}) == Settings()
