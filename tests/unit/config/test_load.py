import pytest

from kebab.config import load as loading
from kebab.config.load import iter_setting_keys, load_settings, read_language, read_settings
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.hints import build_variable_name


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "find_default_config", lambda: tmp_path / "absent.toml")


def _written(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text)
    return path


def test_a_flag_overrides_the_environment_which_overrides_the_file(tmp_path):
    path = _written(tmp_path, "[search]\nlimit = 1\nmode = 'lexical'\nsnippet_chars = 99\n")
    environ = {"KEBAB_SEARCH_LIMIT": "2", "KEBAB_SEARCH_MODE": "vector"}

    search = load_settings(
        path, environ=environ, flags={"search.limit": 3, "search.mode": None}
    ).search

    assert (search.limit, search.mode, search.snippet_chars) == (3, "vector", 99)


def test_a_file_that_changed_is_read_again(tmp_path):
    limits = [
        load_settings(_written(tmp_path, f"[search]\nlimit = {limit}"), environ={}).search.limit
        for limit in (3, 4, 3)
    ]

    assert limits == [3, 4, 3]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("search.limt = 3", "unknown key `search.limt`, did you mean `search.limit`?"),
        ("serach.limit = 3", "unknown key `serach`, did you mean `search"),
        ("[search]\nlimit = 'x'", "`search.limit`: Expected `int`"),
        ("[search]\nmode = 'psychic'", "`search.mode`: Invalid enum value"),
        ("limit = ", "not TOML"),
        (f"limit = {'[' * 5_000}{']' * 5_000}", "not TOML"),
        ("[ingest]\nmax_file_bytes = -1", "`ingest.max_file_bytes`: Expected `int` >= 1"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_name(tmp_path, text, cause):
    with pytest.raises(ConfigInvalid) as caught:
        load_settings(_written(tmp_path, text), environ={})

    assert cause in caught.value.cause


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("KEBAB_OFFLINE", "1", True),
        ("KEBAB_OFFLINE", "0", False),
        ("KEBAB_OFFLINE", "perhaps", None),
        ("KEBAB_OFFLINE", "true", True),
        ("KEBAB_OFFLINE", "yes", True),
        ("KEBAB_OFFLINE", "off", False),
        ("KEBAB_DATA_DIR", "42", "42"),
        ("KEBAB_INGEST_EXCLUDE", '["a", "b"]', ["a", "b"]),
    ],
)
def test_variables_are_read_by_the_type_of_their_setting(name, text, value):
    if value is None:
        with pytest.raises(ConfigInvalid, match="Expected `bool`"):
            load_settings(environ={name: text})
        return
    settings = load_settings(environ={name: text})
    key = next(key for key in iter_setting_keys() if build_variable_name(key) == name)
    for part in key.split("."):
        settings = getattr(settings, part)

    assert settings == value


def test_every_fault_is_reported_and_the_rest_is_used(tmp_path):
    path = _written(tmp_path, "offline = true\nserach = 1\n[search]\nlimit = 0\nmode = 'lexical'\n")

    report = read_settings(path, environ={"KEBAB_ASK_LIMIT": "0", "KEBAB_ASK_SENTENCES": "5"})

    assert [(fault.path, fault.cause.partition(": ")[0]) for fault in report.faults] == [
        (str(path), "line 2"),
        (str(path), "line 4"),
        ("$KEBAB_ASK_LIMIT", "`ask.limit`"),
    ]
    settings = report.settings
    assert (settings.offline, settings.search.limit, settings.search.mode) == (True, 10, "lexical")
    assert (settings.ask.limit, settings.ask.sentences) == (8, 5)


@pytest.mark.parametrize(
    ("text", "spoken"), [("ko", "ko"), ("zh_CN.UTF-8", "zh"), ("de_DE", "en"), ("", "en")]
)
def test_a_locale_in_the_variable_is_a_language_and_never_refused(text, spoken):
    assert (
        load_settings(environ={"KEBAB_LANG": text}).lang
        == read_language({"KEBAB_LANG": text})
        == spoken
    )


@pytest.mark.parametrize("text", ["banana", "5 m", "m5", "5x"])
def test_another_text_is_refused_with_the_form_in_words(text):
    with pytest.raises(ConfigInvalid) as raised:
        load_settings(environ={"KEBAB_MODELS_LLM_KEEP_ALIVE": text})

    assert raised.value.path == "$KEBAB_MODELS_LLM_KEEP_ALIVE"
    assert raised.value.cause == (
        "`models.llm.keep_alive`: expected a duration such as `5m`, "
        "or a number of seconds such as `300`"
    )
