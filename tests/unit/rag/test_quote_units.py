import pytest

from kebab.rag.quote_units import MAX_CODE, find_quote_units, is_short, rate_definition
from tests.fakes.evidence import stored


def texts(note, **fields):
    chunk = stored(note, **fields)
    return [note[one.start : one.end] for one in find_quote_units(chunk, 0, len(note))]


def test_every_sentence_is_a_unit():
    note = "The first sentence is here. The second sentence is here."
    assert texts(note) == ["The first sentence is here.", "The second sentence is here."]


def test_headings_labels_and_badges_are_left_out_beside_sentences():
    note = (
        "(serve-configure)=\n# Configure the whole server\n\n[![ci](a.svg)](b)\n\n"
        "| name | value |\n|---|---|\n\nThe server reads one file.\n"
    )
    assert texts(note) == ["The server reads one file."]


def test_a_heading_is_a_unit_where_nothing_else_is():
    assert texts("# Configure the whole server") == ["Configure the whole server"]


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("Is it on? Yes. It is on by default.", ["Is it on? Yes. It is on by default."]),
        ("It is on by default, always. Yes.", ["It is on by default, always. Yes."]),
        ("- port: 8080\n- host: all addresses", ["port: 8080\n- host: all addresses"]),
        ("はい。既定では有効になっています。", ["はい。既定では有効になっています。"]),
    ],
)
def test_a_short_sentence_is_extended_by_its_neighbour(note, expected):
    assert [one for one in texts(note) if one in expected] == expected
    assert not any(map(is_short, texts(note)))


def test_a_short_sentence_alone_stays():
    assert texts("Yes.") == ["Yes."]


def test_an_announcement_and_its_code_are_one_unit():
    note = (
        "Install it with this command:\n\n```sh\npip install x\n\nx\n```\n\nThen it is installed."
    )
    assert texts(note) == [
        "Install it with this command:\n\n```sh\npip install x\n\nx\n```",
        "Then it is installed.",
    ]


def test_a_whole_sentence_stands_with_and_without_its_code():
    note = "The command installs it here.\n\n```sh\npip install x\n```\n"
    assert texts(note) == ["The command installs it here.", note.strip()]


def test_code_without_a_sentence_is_a_unit_of_its_own():
    assert texts("# Install\n\n```sh\npip install x\n```\n") == ["```sh\npip install x\n```"]


def test_long_code_is_not_joined():
    code = "\n".join(f"line_{number} = call({number})" for number in range(80))
    note = f"Here is a long file of code:\n\n```py\n{code}\n```\n"
    assert len(code) > MAX_CODE
    assert all(len(one) < MAX_CODE for one in texts(note))


def test_units_outside_the_given_part_are_left_out():
    note = "The first sentence is here. The second sentence is here."
    units = find_quote_units(stored(note), 5, len(note))
    assert [note[one.start : one.end] for one in units] == ["The second sentence is here."]


def test_the_first_sentence_below_a_heading_leads():
    note = "This page has a lead. It goes on with more.\n\n## Snapshots\n\nA snapshot is a copy.\n"
    chunk = stored(note, title="Backup")
    units = find_quote_units(chunk, 0, len(note))
    leads = {one.lead: note[one.start : one.end] for one in units if one.lead}
    assert leads["Backup"].startswith("This page has a lead.")
    assert leads["Snapshots"] == "A snapshot is a copy."
    rates = [rate_definition(one, chunk, frozenset({"snapshot"})) for one in units]
    assert rates.count(1.0) == 1
    assert sum(rates) == 1.0


def test_a_later_passage_has_no_lead_of_the_page():
    note = "This passage continues the page."
    chunk = stored(note, title="Backup", ordinal=3)
    (unit,) = find_quote_units(chunk, 0, len(note))
    assert rate_definition(unit, chunk, frozenset({"backup"})) == 0


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("A snapshot is a frozen copy.", "snapshot"),
        ("Ein Schnappschuss ist eine Kopie.", "schnappschuss"),
        ("스냅샷은 디스크의 사본이다.", "스냅"),
        ("快照是磁盘的副本。", "快照"),
    ],
)
def test_a_sentence_that_begins_with_its_subject_and_says_what_it_is_defines_it(text, subject):
    chunk = stored(text, ordinal=3)
    (unit,) = find_quote_units(chunk, 0, len(text))
    assert rate_definition(unit, chunk, frozenset({subject})) > 0
    assert rate_definition(unit, chunk, frozenset({"backup"})) == 0


def test_a_part_of_the_subject_may_be_in_the_path():
    note = "A layer around the application is middleware."
    chunk = stored(note, title="Middleware", path="starlette/middleware.md")
    (unit,) = find_quote_units(chunk, 0, len(note))
    assert rate_definition(unit, chunk, frozenset({"middlewar", "starlett"})) == 1
    assert rate_definition(unit, chunk, frozenset({"middlewar", "django"})) == 0


def test_an_announcement_takes_the_sentence_before_it_to_its_code():
    note = "You may want to create a demo. You would run:\n\n```\nnew demo\n```\n"
    assert texts(note)[-1] == note.strip()
