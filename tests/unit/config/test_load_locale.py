import pytest

from kebab.config.load import read_locale_language


@pytest.fixture(autouse=True)
def no_locale(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("ko_KR.UTF-8", "ko"),
        ("de_DE@euro", "de"),
        ("en_US.UTF-8", "en"),
        ("fr", "fr"),
        ("zh-Hans", "zh"),
        ("C", None),
        ("C.UTF-8", None),
        ("POSIX", None),
        ("", None),
    ],
)
def test_the_language_of_a_locale_is_its_first_part(monkeypatch, name, language):
    monkeypatch.setenv("LANG", name)

    assert read_locale_language() == language


def test_the_variables_have_the_order_of_posix(monkeypatch):
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert read_locale_language() == "de"
    monkeypatch.setenv("LC_MESSAGES", "fr_FR.UTF-8")
    assert read_locale_language() == "fr"
    monkeypatch.setenv("LC_ALL", "C")
    assert read_locale_language() is None


def test_without_variables_there_is_no_language():
    assert read_locale_language() is None
