import pytest

from kebab.config.load import (
    MOST_BYTES,
    build_toml,
    find_line,
    iter_documented_settings,
    iter_setting_keys,
    load_settings,
    read_settings_text,
)
from kebab.config.settings import Settings
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


@pytest.mark.timeout(100)  # it would fill the memory
@pytest.mark.parametrize("path", ["/dev/zero", "long"])
def test_an_endless_file_is_refused(tmp_path, path):
    (tmp_path / "long").write_bytes(b"#" * (MOST_BYTES + 1))

    with pytest.raises(ConfigInvalid, match="more than 1,048,576 bytes"):
        read_settings_text(tmp_path / path)


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
