"""The form of kept results hides what is luck, and nothing else."""

import pytest

from tests.golden.normalised import Normaliser

ID, OTHER = "0bbc0dd297e89a3eb7a316a89c2e17db", "e8dc16247b07beac4fb1c5c55c1e0689"
FIRST, SECOND = f"{1:032x}", f"{2:032x}"


def form(*objects):
    return Normaliser("/tmp/run-7/home").lines(objects)


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        ({"file": "/tmp/run-7/home/notes/a.md"}, {"file": "/home/ada/notes/a.md"}),
        ({"at": "2031-02-03T04:05:06.789Z"}, {"at": "2025-01-01T00:00:00.000Z"}),
        ({"cause": "http://127.0.0.1:4711/api"}, {"cause": "http://127.0.0.1:11434/api"}),
        ({"message": "locked: pid 4711"}, {"message": "locked: pid 1"}),
        ({"elapsed_ms": 0}, {"elapsed_ms": 1}),
        ({"first_token_ms": None}, {"first_token_ms": None}),
        ({"lancedb": 0, "sqlite": 4096}, {"lancedb": 0, "sqlite": 1}),
        ({"next_cursor": None}, {"next_cursor": None}),
        (
            {"unit": "ms", "value": 3.1, "count": 2},
            {"unit": "ms", "value": 1.0, "count": 2},
        ),
        ({"score": 0.7910004}, {"score": 0.791}),
        ({"ids": [ID, OTHER, ID]}, {"ids": [FIRST, SECOND, FIRST]}),
        ({"message": f"several: {ID}, {OTHER}"}, {"message": f"several: {FIRST}, {SECOND}"}),
    ],
)
def test_what_differs_from_run_to_run_is_put_in_one_form(seen, kept):
    assert form(seen) == [kept]


@pytest.mark.parametrize(
    "seen",
    [
        {"deadline_ms": 200, "retry_after_ms": 2000},
        {"size": 684, "limit": 100, "max": True},
        {"message": "schema 4", "code": "deadbeef"},
        {"found": False, "hint": None, "chunks": []},
        {"kind": "heartbeat", "message": "no vectors in this run"},
    ],
)
def test_what_a_caller_may_rely_on_stays(seen):
    assert form(seen) == [seen]


@pytest.mark.parametrize("name", ["kind", "type"])
def test_lines_that_only_break_a_silence_are_left_out(name):
    assert form({name: "heartbeat", "elapsed_ms": 3000}, {name: "token"}) == [{name: "token"}]


def test_channels_of_one_run_share_the_numbers_of_ids():
    both = Normaliser("/nowhere")

    assert both.lines([{"id": ID}]) == both.lines([{"id": ID}]) == [{"id": FIRST}]
