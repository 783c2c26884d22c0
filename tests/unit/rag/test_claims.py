from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.claims import Claim, extract_claims, verify_claims
from kebab.rag.markers import parse_markers
from kebab.rag.passages import Passage
from kebab.rag.prompt import Evidence
from tests.fakes.evidence import stored

KNOWN = set(range(1, 10))


def list_claims(text):
    return [(one.text, one.markers) for one in extract_claims(parse_markers(text, KNOWN))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("A pump [1].", [("A pump.", (1,))]),
        ("A pump. [1] A fan. [2][3]", [("A pump.", (1,)), ("A fan.", (2, 3))]),
        ("A pump.   [1] A fan.", [("A pump.", (1,)), ("A fan.", ())]),
        ("A pump.\n[1]", [("A pump.", (1,))]),
        ("A pump.\n\n[1] [2]", [("A pump.", (1, 2))]),
        ("A pump. A fan [1].", [("A pump.", ()), ("A fan.", (1,))]),
        (
            "A pump runs [1] and a fan stands [2].",
            [("A pump runs and a fan stands.", (1, 2))],
        ),
        (
            "A pump runs [1] and some fan stands still.",
            [("A pump runs and some fan stands still.", (1,))],
        ),
        ("A pump [1] is installed.", [("A pump is installed.", (1,))]),
        ("In [1], the pump runs.", [("In, the pump runs.", (1,))]),
        ("In [1] and [2] it is the pump [3].", [("In and it is the pump.", (1, 2, 3))]),
        ("[1] The pump runs.", [("The pump runs.", (1,))]),
        ("- A pump [1]\n- A fan\n", [("A pump", (1,)), ("A fan", ())]),
        ("펌프는 설치되었다[1]. 팬이다[2].", [("펌프는 설치되었다.", (1,)), ("팬이다.", (2,))]),
        ("펌프는 설치[1]되었습니다.", [("펌프는 설치되었습니다.", (1,))]),
        (
            "東京は首都です[1]。京都は古都です。[2]",
            [("東京は首都です。", (1,)), ("京都は古都です。", (2,))],
        ),
        ("The year was 2019 [1].", [("The year was 2019.", (1,))]),
    ],
)
def test_a_claim_is_a_sentence_with_its_markers(text, expected):
    assert list_claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# The pump [1]",
        "Is it a pump? [1]",
        "Is it a pump [1]?",
        "These pumps run [1]:",
        "These pumps run: [1]",
        "**These pumps:**",
        "**The pump**",
        "Yes [1].",
        "...",
        "ポンプはどこ？",
    ],
)
def test_headings_questions_and_lead_ins_are_no_claims(text):
    assert list_claims(text) == []


PIECES = st.lists(
    st.sampled_from(
        [
            "The pump",
            " runs",
            "[1]",
            " [2]",
            ". ",
            "\n",
            "\n\n",
            "- ",
            "# ",
            "?",
            ":",
            "`",
            "[9]",
            "漢字",
            "。",
        ]
    ),
    max_size=30,
).map("".join)


@given(PIECES)
def test_claims_are_disjoint_in_order_and_contain_their_markers(text):
    marked = parse_markers(text, {1, 2})
    found = extract_claims(marked)

    assert all(0 <= one.start < one.end <= len(marked.text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    for one in found:
        part = marked.text[one.start : one.end]
        assert part == part.strip()
        assert all(f"[{marker}]" in part for marker in one.markers)
        assert one.span == (one.start, one.end)


@pytest.mark.parametrize("unit", ["a [1] ", "The pump [1], ", "x. ", "[1]", "| a [1] ", "word "])
def test_hostile_rows_are_split_completely(unit):
    assert all(one.text for one in extract_claims(parse_markers(unit * 3_000, KNOWN)))


PUMP = "The heat pump was installed in Berlin by Anna Meyer. A start takes 45 minutes."
BACKUP = "Backups of all documents run every night with restic on Atlas."
AGAIN = "Notes say that a start of the heat pump takes 45 minutes."


def index_passages(*texts):
    return {
        marker: Passage(Evidence(marker=marker, chunk=stored(text, key=marker), text=text))
        for marker, text in enumerate(texts, 1)
    }


def verify(text, *markers, among=(PUMP, BACKUP, AGAIN)):
    (found,) = verify_claims([Claim(0, len(text), text, markers)], index_passages(*among))
    return [one.marker for one in found.supporting], [
        (one.code, one.marker) for one in found.warnings
    ]


@pytest.mark.parametrize(
    ("text", "markers", "supporting", "warnings"),
    [
        ("A start takes 45 minutes.", (1,), [1], []),
        ("A start takes 45 minutes.", (3, 1), [3, 1], []),
        ("A start takes 45 minutes.", (1, 2), [1], [("wrong_marker", 2)]),
        ("A start takes 45 minutes.", (2,), [], [("unsupported_claim", 2)]),
        ("A start takes 50 minutes.", (2,), [], [("unsupported_claim", 2)]),
        ("시동에는 45분이 걸립니다.", (1,), [1], []),
        ("시동에는 45분이 걸립니다.", (2,), [], [("unsupported_claim", 2)]),
        ("A start takes 50 minutes.", (1, 3), [], [("unsupported_claim", None)]),
        ("A start takes 45 minutes.", (), [1], []),
        ("Cats sleep long.", (), [], [("uncited_claim", None)]),
        ("Anna Meyer installed the pump and restic runs on Atlas.", (1, 2), [1, 2], []),
        ("Anna Meyer installed the pump and restic runs on Atlas.", (1, 2, 3), [1, 2], []),
    ],
)
def test_passages_support_claims_alone_or_together(text, markers, supporting, warnings):
    assert verify(text, *markers) == (supporting, warnings)


@pytest.mark.parametrize("markers", [(1, 2), (2, 1)])
def test_a_similar_passage_without_support_is_removed_wherever_it_is_cited(markers):
    alike = "The start of the heat pump is loud."

    found = verify("A start of the heat pump takes 45 minutes.", *markers, among=(AGAIN, alike))

    assert found == ([1], [("wrong_marker", 2)])


def test_a_claim_without_markers_is_not_attributed_beside_a_passage_that_denies_it():
    feeding = "Feed the starter every day with flour."
    dough = "The dough of the starter takes flour and water every day."

    found = verify("Never feed the starter with flour every day.", among=(dough, feeding))

    assert found == ([], [("uncited_claim", None)])


COMMANDS = "Check it with `restic check --read-data` and mend it with `restic repair packs`."


@pytest.mark.parametrize(
    ("answer", "supporting"),
    [
        ("Run this [1]:\n```sh\nrestic check --read-data\n```", [[1]]),
        ("Check the data [1].\n```\nrestic check\n```", [[1], [1]]),
        ("```\nrestic check [1]\n```\n[1]", [[1]]),
        ("```\nrestic prune\n```\n[1]", [[]]),
        ("```\nrestic check # check the repair\n```\n[1]", [[1]]),
        ("```\nrestic check # cats sleep long\n```\n[1]", [[]]),
        ("```\nrestic check --tag work\n```\n[1]", [[1]]),
    ],
)
def test_a_block_of_code_has_words_of_its_passage_or_of_the_question(answer, supporting):
    known = index_passages(COMMANDS)
    claims = extract_claims(parse_markers(answer, known))

    found = verify_claims(claims, known, "How do I check --tag work?")

    assert [[one.marker for one in each.supporting] for each in found] == supporting
