import pytest

from kebab.embed.registry import E5_SMALL, MINILM
from kebab.text.language import is_written_in

LATIN = frozenset({"latin"})


@pytest.mark.parametrize(
    "text",
    [
        "plain English",
        "naïve Übergröße, Tiếng Việt, ŁÓDŹ",
        "",
        "12:30 — 42 %, 3.14 €",
        "kubectl로 배포한다: kubectl apply",
        "ｆｕｌｌ ｗｉｄｔｈ",
    ],
)
def test_latin_text_and_text_without_letters_is_known(text):
    assert is_written_in(text, LATIN)


@pytest.mark.parametrize(
    "text",
    [
        "데이터베이스를 검색한다",
        "日本語の文章",
        "向量数据库",
        "Привет мир",
        "مرحبا",
        "ελληνικά",
        "API 서버를 설정한다",
    ],
)
def test_text_mostly_in_another_script_is_unknown(text):
    assert not is_written_in(text, LATIN)


def test_decomposed_accents_and_syllables_count_as_their_script():
    assert is_written_in("cafe\u0301 de\u0301ja\u0300", LATIN)
    assert not is_written_in("\u1112\u1161\u11ab\u1100\u1173\u11af", LATIN)


def test_half_of_the_letters_is_enough():
    assert is_written_in("ab가나", LATIN)
    assert not is_written_in("ab가나다", LATIN)


def test_a_model_of_all_scripts_supports_every_text():
    assert is_written_in("데이터", E5_SMALL.scripts)
    assert not is_written_in("데이터", MINILM.scripts)
