import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.passages import Passage
from kebab.rag.prompt import Evidence
from kebab.rag.support import check_support, parse_claim, select_quote
from tests.fakes.evidence import stored

PUMP = (
    "The heat pump was installed on 12 March 2024 in Berlin by Anna Meyer. "
    "It cost US$3 million and a start takes 45 minutes. It was never painted."
)
BACKUP = "Backups of all documents run every night with restic. They are kept for 30 days."


def index_passage(text, marker=1, **fields):
    return Passage(Evidence(marker=marker, chunk=stored(text, key=marker, **fields), text=text))


def check(claim, *texts):
    evidence = [index_passage(text, marker) for marker, text in enumerate(texts, 1)]
    return check_support(parse_claim(claim), evidence)


@pytest.mark.parametrize(
    "claim",
    [
        "The heat pump was installed on 12 March 2024 in Berlin by Anna Meyer.",
        "The pump was installed on March 12, 2024.",
        "In Berlin, Anna Meyer installed the heat pump.",
        "It cost 3,000,000 dollars.",
        "A start takes forty-five minutes.",
        "The pump was not painted.",
        "Pumps cost $3 million.",
        "Pumps start to sleep.",
    ],
)
def test_a_claim_is_supported_in_any_wording(claim):
    found = check(claim, PUMP)

    assert (found.supported, found.reason) == (True, None)
    assert 0.5 <= found.share <= 1


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("A start of the pump takes 50 minutes.", "not in passage 1: 50 minutes"),
        ("A start of the pump takes 45 seconds.", "not in passage 1: 45 seconds"),
        ("The pump was installed in Munich.", "not in passage 1: Munich"),
        ("The pump was installed on 13 March 2024.", "not in passage 1: 13 March 2024"),
        ('The pump is called "north wind".', 'not in passage 1: "north wind", called'),
        ("The pump was painted.", "contradicted by passage 1: painted"),
        ("The heat pump was not installed in Berlin.", "contradicted by passage 1: installed"),
        ("Cats sleep long.", "not in passage 1: Cats, sleep, long"),
        ("Cats sleep.", "not in passage 1: Cats, sleep"),
        ("Pumps sleep.", "not in passage 1: sleep"),
    ],
)
def test_missing_facts_and_words_are_reported(claim, reason):
    found = check(claim, PUMP)

    assert (found.supported, found.reason) == (False, reason)


def test_passages_can_support_a_claim_together():
    claim = "The pump was installed in 2024 by Anna Meyer and backups run every night with restic."

    assert not check(claim, PUMP).supported or not check(claim, BACKUP).supported
    assert check(claim, PUMP, BACKUP).supported
    assert check("Cats sleep.", PUMP, BACKUP).reason == "not in passages 1 and 2: Cats, sleep"


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("히트펌프는 2024년 3월 12일 Berlin에 설치되었습니다.", True),
        ("히트펌프는 2024년 3월 13일에 설치되었습니다.", False),
        ("히트펌프는 Munich에 설치되었습니다.", False),
        ("시동에는 45분이 걸립니다.", True),
        ("시동에는 50분이 걸립니다.", False),
        ("Die Wärmepumpe ist in Berlin und wurde nicht von der Stadt bezahlt.", True),
    ],
)
def test_across_languages_only_facts_are_compared_and_the_reason_says_so(claim, supported):
    found = check(claim, PUMP)

    assert (found.supported, found.share) == (supported, 0.0)
    assert found.reason is not None
    assert found.reason.startswith("only numbers, names" if supported else "not in passage 1: ")


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("펌프는 2024년에 지하실에 설치되었습니다.", True),
        ("펌프는 2023년에 지하실에 설치되었습니다.", False),
        ("고양이는 하루 종일 잠을 잡니다.", False),
        ("펌프는 지하실에 설치되지 않았다.", False),
    ],
)
def test_korean_claims_are_compared_with_korean_passages(claim, supported):
    assert check(claim, "펌프는 2024년에 지하실에 설치되었다.").supported is supported


WAGES = "Alice earns 40 euros. Bob earns 50 euros. In spring they were paid by Carol."


@pytest.mark.parametrize("value", ["Bob earns 40 euros.", "Alice earns 50 euros."])
def test_a_value_of_another_sentence_is_another_value(value):
    found = check(value, WAGES)

    assert not found.supported
    assert found.is_contradicted
    assert found.reason is not None
    assert found.reason.startswith("passage 1 says otherwise of: ")


def test_a_value_may_stand_in_the_sentence_behind_the_one_that_names_its_subject():
    passage = "Tesla was born in Smiljan. He died in New York in 1943. Edison died in 1931."

    assert check("Tesla died in 1943.", passage).supported
    assert not check("Tesla died in 1931.", passage).supported


TABLE = "| Place | Height | Founded |\n|---|---|---|\n| Fuji | 30 | 1990 |\n| Kobe | 45 | 1985 |\n"


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("The height of Fuji is 30.", True),
        ("Fuji was founded in 1990 and has the height 30.", True),
        ("Fuji has 30 as height and 1990 as the year when it was founded.", True),
        ("Fuji was founded in 30 and has the height 1990.", False),
        ("The height of Fuji is 45.", False),
        ("The height of Fuji is 1990.", False),
        ("Kobe was founded in 1990.", False),
    ],
)
def test_a_value_stands_in_the_row_and_in_the_column_that_the_claim_names(claim, supported):
    assert check(claim, TABLE).supported is supported


def test_the_header_row_of_a_cut_table_is_its_context():
    rows = TABLE.partition("|---|---|---|\n")[2]
    passage = index_passage(rows, context="| Place | Height | Founded |")

    assert check_support(parse_claim("The height of Fuji is 30."), [passage]).supported
    assert not check_support(parse_claim("The height of Fuji is 1990."), [passage]).supported


TEXT = (
    "# Pump\n\nThe heat pump stands in the cellar. It was installed on 12 March 2024 by Anna Meyer."
    "\nIt is loud.\n\n- A start takes 45 minutes.\n"
)


def get_quote(claim, text=TEXT, start=0, end=None):
    chunk = stored(text)
    passage = Evidence(marker=1, chunk=chunk, text=text[start:end], start=start)
    return select_quote(parse_claim(claim), Passage(passage))


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("A start of the pump takes 45 minutes.", "A start takes 45 minutes."),
        ("Anna Meyer installed it.", "It was installed on 12 March 2024 by Anna Meyer."),
        ("It is loud.", "It is loud."),
        (
            "The heat pump in the cellar was installed on March 12, 2024 by Anna Meyer.",
            "The heat pump stands in the cellar. It was installed on 12 March 2024 by Anna Meyer.",
        ),
        ("Nothing of this is there.", "Pump"),
    ],
)
def test_the_sentences_with_most_of_the_claim_are_quoted(claim, expected):
    assert get_quote(claim).text == expected
    assert get_quote(claim, end=TEXT.index(expected) + len(expected)).text == expected


def test_a_quote_of_a_cut_passage_has_its_position_in_the_chunk():
    start = TEXT.index("It was")

    found = get_quote("Anna Meyer installed it.", start=start, end=start + 48)

    assert found.text == "It was installed on 12 March 2024 by Anna Meyer."
    assert (found.start, found.lines) == (start, (3, 3))


@given(claim=st.text(max_size=60), text=st.text(min_size=1, max_size=200), cut=st.integers(0, 50))
def test_a_quote_is_verbatim_trimmed_and_within_its_passage(claim, text, cut):
    cut = min(cut, len(text) - 1)

    found = get_quote(claim, text, start=cut)

    assert cut <= found.start <= found.end <= len(text)
    assert found.text == found.text.strip()
    assert found.text or not text[cut:].strip()
