"""`--config` is honoured by every command, and the default knowledge base stays untouched."""

import pytest

from tests.contract.test_outputs import STATED, place_flags

LINES = {path: (path, *line) for path, *line in reversed(STATED)}.values()
"""The first line of each command, because the flag is the same for all lines of a command."""

NEED_NO_SETTINGS = (
    *("completion", "doctor", "errors", "eval compare", "explain", "init", "install"),
)
ERROR = 2
SETTINGS = [
    (path, arguments, ["config_invalid", *(["usage_invalid"] if status == ERROR else [])])
    for path, arguments, (status, _) in LINES
    if path not in NEED_NO_SETTINGS
    and (path != "schema" or arguments == ["schema"])
    and arguments != ["fetch", "-"]  # stdin is read first
    and "--import" not in arguments  # the file is read first
]


@pytest.fixture
def elsewhere(empty, monkeypatch):
    """A settings file that puts everything in another place."""
    file = empty / "elsewhere.toml"
    places = {name: empty / "elsewhere" / name for name in ("data_dir", "models_dir")}
    file.write_text("".join(f'{name} = "{place}"\n' for name, place in places.items()))
    (empty / "notes").mkdir()
    (empty / "notes" / "a.md").write_text("# Restore\n\nRestore the backup.\n")
    monkeypatch.chdir(empty)
    return file


@pytest.mark.parametrize(("path", "arguments", "stated", "before"), place_flags([*LINES]))
def test_the_default_place_stays_untouched(path, arguments, stated, before, elsewhere, kebab):
    empty = elsewhere.parent
    flag = ["--config", str(elsewhere)]

    line = [*flag, *arguments] if before else [*arguments, *flag]
    ran = kebab(*line, "--json", stdin=b"Some text.\n")

    assert "generic" not in [one.get("code") for one in ran.asides]
    assert not (empty / "data").exists()
    assert not (empty / "cache").exists()


def test_what_is_ingested_elsewhere_is_found_elsewhere_only(empty, elsewhere, kebab):
    flag = ["--config", str(elsewhere)]
    assert kebab("ingest", str(empty / "notes"), *flag).status == 0

    assert kebab("search", "restore", *flag).status == 0
    assert kebab("search", "restore").status == 3


@pytest.mark.parametrize(("path", "arguments", "codes", "before"), place_flags(SETTINGS))
def test_a_file_that_does_not_exist_is_refused(path, arguments, codes, before, empty, kebab):
    flag = ["--config", str(empty / "none.toml")]

    ran = kebab(*([*flag, *arguments] if before else [*arguments, *flag]), "--json")

    assert (ran.status, ran.out) == (2, "")
    assert ran.fault["code"] in (["usage_invalid"] if path == "bench" else codes)
    assert not (empty / "data").exists()


def test_init_writes_the_file_that_is_named(empty, kebab):
    assert kebab("init", "--config", str(empty / "new.toml"), "--json").reply["written"]
    assert (empty / "new.toml").exists()
    assert not (empty / "config").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("limit = = 3", "not TOML"),
        ("[search]\nlimmit = 3", "did you mean `search.limit`"),
        ('[search]\nlimit = "three"', "search.limit"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text, words, empty, kebab):
    (empty / "bad.toml").write_text(text)

    fault = kebab("list", "--config", str(empty / "bad.toml"), "--json").fault

    assert fault["code"] == "config_invalid"
    assert words in fault["message"]


def test_read_only_refuses_every_write(home, kebab):
    for arguments in (["ingest"], ["rm", "work/backups.md"], ["reset", "--yes"], ["init"]):
        ran = kebab(*arguments, "--read-only", "--json")
        assert (ran.status, ran.fault["code"]) == (2, "read_only"), arguments
    assert kebab("search", "restore", "--read-only").status == 0
