import pytest

from kebab.rag.passages import Stretch, find_negated
from kebab.rag.values import ValueKind, find_values


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("It was never painted.", {"paint"}),
        ("It isn't loud.", {"loud"}),
        ("Do not feed the starter.", {"feed"}),
        ("Die Pumpe ist nicht laut.", {"laut"}),
        ("El motor no funciona.", {"funciona"}),
        ("Backups run not only at night.", set()),
        ("It takes no more than a day.", set()),
        ("It is loud.", set()),
        ("펌프는 설치되지 않았다.", {"설치", "치되"}),
        ("설치되었다.", set()),
        ("設置されなかった。", {"設置"}),
        ("设备没有安装。", {"有安"}),
    ],
)
def test_the_content_word_beside_a_negator_is_denied(text, denied):
    assert find_negated(text) == denied


def holds(claim, text):
    stretch = Stretch(text)
    return [stretch.holds(one) for one in find_values(claim)[0] if one.kind is not ValueKind.FIRST]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("on 2024-03-12", "on 12 March 2024"),
        ("on March 12, 2024", "on 2024-03-12"),
        ("in March 2024", "on 2024-03-12"),
        ("on 6 October 2023", "from 6 to 25 October 2023"),
        ("it took 45", "a 45-minute start"),
        ("in Berlin", "Berlin's pumps"),
        ("by the German army", "an army of Germany"),
        ("by the EU", "the European Union said"),
        ("the UTF-8 text", "utf8 text"),
        ("ベルリンにある", "ベルリンの"),
        ("the 3rd time", "on the third day"),
    ],
)
def test_a_value_is_found_in_another_form(claim, text):
    assert all(holds(claim, text))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("on 13 March 2024", "on 12 March 2024"),
        ("in May 2024", "on 2024-03-12"),
        ("it took 45 seconds", "it took 45 minutes"),
        ("in Nigeria", "in Niger"),
        ("in Austria", "in Australia"),
        ("with Maria", "with Mario"),
        ("the UTF-16 text", "UTF-8 text"),
        ("by the EU", "the United Nations"),
        ("ベルリンにある", "ミュンヘンにある"),
    ],
)
def test_another_value_is_not_found(claim, text):
    assert not all(holds(claim, text))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("by Hatmanis", True),
        ("by Hartmann", False),
        ("the Hartmanis-Stearns paper", True),
        ("with MPEG-3", False),
        ("by Q" + "a" * 100_000, False),
    ],
)
def test_a_name_of_a_question_may_be_misspelt_or_in_part(asked, expected):
    text = Stretch("The Hartmanis paper of 1965 uses MPEG-2.")
    (value,) = find_values(asked)[0]

    assert text.holds_asked(value) is expected
