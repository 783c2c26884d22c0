import re
from string import Formatter

import pytest

from kebab.errors.catalog import IoError, NotIndexed, build_catalog
from kebab.errors.signal import LANGUAGES, find_wordings, load_texts, parse_language

FOREIGN = [language for language in LANGUAGES if language != "en"]
SCRIPTS = {"ko": re.compile("[가-힣]"), "zh": re.compile("[\u4e00-\u9fff]")}
CODE = re.compile(r"`[^`]*`")
COMMAND = re.compile(
    r"(?:kebab|ollama|pip|mkdir|chmod|unset|export) [^\uac00-\ud7a3\u4e00-\u9fff]+|{\w+}"
)
ROWS = list(build_catalog().values())
EVERY = [
    (english, find_wordings(row, language)[case], language)
    for language in FOREIGN
    for row in ROWS
    for case, english in row.wordings.items()
]
"""Each wording in English and in another language, which is named."""


def placeholders(template):
    return sorted(name for _, name, *_ in Formatter().parse(template) if name is not None)


@pytest.mark.parametrize("language", FOREIGN)
def test_every_message_of_a_row_and_its_cases_is_translated_and_nothing_else(language):
    texts = load_texts(language)
    cases = {
        f"{row.code}:{case}": (row, words) for row in ROWS for case, words in row.cases.items()
    }
    told = {name for name, words in texts.items() if words.message}

    assert set(texts) <= {row.code for row in ROWS} | set(cases)
    assert told == {row.code for row in ROWS} | {
        name for name, (row, words) in cases.items() if words.message not in ("", row.message)
    }


def test_a_translation_says_as_much_as_the_english_and_fills_in_the_same():
    for english, foreign, _ in EVERY:
        assert placeholders(foreign.message) == placeholders(english.message)
        assert placeholders(foreign.hint or "") == placeholders(english.hint or "")
        assert (foreign.hint is None) == (english.hint is None)


def test_a_translation_is_in_its_language_and_ends_without_a_stop():
    for _, said, language in EVERY:
        assert SCRIPTS[language].search(said.message)
        assert not said.message.endswith((".", "。"))
        assert not (said.hint or "").endswith((".", "。"))


def test_commands_and_names_of_flags_are_not_translated():
    for english, foreign, language in EVERY:
        if english.hint and COMMAND.fullmatch(english.hint):
            assert foreign.hint == english.hint
        elif english.hint:
            assert SCRIPTS[language].search(foreign.hint or "")
        quoted = CODE.findall(f"{english.message} {english.hint}")
        assert sorted(CODE.findall(f"{foreign.message} {foreign.hint}")) == sorted(quoted)


def test_a_signal_is_worded_in_every_language_and_case():
    older = NotIndexed(data_dir="/kb", expected="4", found=3)

    assert older.format_message(find_wordings(NotIndexed, "ko")).endswith(
        "3, 이 빌드가 읽는 스키마는 4"
    )
    assert older.format_hint(find_wordings(NotIndexed, "ko")) == "kebab ingest"
    assert NotIndexed(data_dir="/kb", expected="4", found=5).format_hint(
        find_wordings(NotIndexed, "zh")
    ) == ("pip install --upgrade kebab")


def test_an_untranslated_error_is_worded_in_english(monkeypatch):
    monkeypatch.delitem(load_texts("ko"), "io_error")

    assert find_wordings(IoError, "ko") is not None
    assert find_wordings(IoError, "ko") == IoError.wordings


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("ko", "ko"),
        ("42", "en"),
    ],
)
def test_a_locale_is_read_by_its_first_part(locale, language):
    assert parse_language(locale) == language
