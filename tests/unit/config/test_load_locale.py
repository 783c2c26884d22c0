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
