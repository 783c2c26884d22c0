import pytest

from kebab.search.snippet import find_matches


def _marked(text, *tokens):
    return [text[one.start : one.end] for one in find_matches(text, dict.fromkeys(tokens, 1.0))]


@pytest.mark.parametrize(
    ("text", "tokens", "marked"),
    [
        ("He connected two connections", ["connect"], ["connected", "connections"]),
        ("the snake_case name", ["snakecas"], ["snake_case"]),
        ("the snake_case name", ["case"], ["case"]),
        ("kube-apiserver runs", ["kube"], ["kube"]),
        ("서울역에서", ["울역"], ["울역"]),
        ("서울역에서", ["역"], ["역"]),
        ("서울 역", ["역"], ["역"]),
        ("ﾃﾞｰﾀを", ["デー"], ["ﾃﾞｰﾀ"]),
        ("un café noir", ["cafe"], ["café"]),
        ("nothing here", ["absent"], []),
        ("c++ code", ["c++"], ["c++"]),
        ("\ufb01le", ["file"], ["\ufb01le"]),
    ],
)
def test_matches_are_spans_of_the_original_text(text, tokens, marked):
    assert _marked(text, *tokens) == marked


def test_a_match_carries_the_weight_of_its_token():
    [match] = find_matches("oil", {"oil": 3.5})

    assert (match.token, match.weight) == ("oil", 3.5)
