import pytest

from kebab.rag.passages import find_negated


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
