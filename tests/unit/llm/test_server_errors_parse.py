import json

import pytest

from kebab.llm.server_errors import ServerError, parse_server_error


def nested(levels):
    error: object = "too deep"
    for _ in range(levels):
        error = {"error": error}
    return error


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"error": "no"}, "no"),
        ({"object": "error", "message": "no", "code": 400}, "no"),
        ({"message": "no"}, "no"),
        ({"error": {"message": "no"}, "message": "again"}, "no"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": {"message": "no"}}, "no"),
        (
            {"detail": [{"loc": ["body", "messages", 0], "msg": "required"}, {"msg": "no"}]},
            "messages.0: required; no",
        ),
        ({"error": json.dumps({"error": {"message": "no"}})}, "no"),
        ({"error": "{no JSON"}, "{no JSON"),
        ({"error": '{"other": 1}'}, '{"other": 1}'),
        ({"error": ""}, ""),
        (nested(4), "too deep"),
    ],
)
def test_the_text_of_an_error_is_found(answer, text):
    error = parse_server_error(answer)

    assert error is not None
    assert error.text == text


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"error": None},
        {"error": 5},
        {"error": {}},
        {"error": {"message": 5}},
        {"error": ["no"]},
        {"detail": []},
        {"detail": [1, {"msg": 2}]},
        {"choices": []},
        nested(500),
    ],
)
def test_an_object_without_an_error_is_none(answer):
    assert parse_server_error(answer) is None


def test_kind_status_and_counts_are_parsed():
    error = parse_server_error({"error": {"message": "no", "type": "t", "code": "c", "n_ctx": 256}})

    assert error == ServerError(text="no", kinds=frozenset({"t", "c"}), context_tokens=256)


@pytest.mark.parametrize(
    ("code", "status"),
    [(400, 400), (599, 599), ("503", 503), (200, 0), (-1, 0), (True, 0), (None, 0)],
)
def test_a_code_that_is_an_error_status_is_the_status(code, status):
    error = parse_server_error({"message": "no", "code": code})

    assert error is not None
    assert error.status == status


@pytest.mark.parametrize("code", ["9" * 5000, "٤٠٠", "4e2", "", [400], {"a": 1}])
def test_an_invalid_code_is_no_status(code):
    error = parse_server_error(
        {"message": "no", "code": code, "n_prompt_tokens": "many", "n_ctx": -5}
    )

    assert error is not None
    assert error.status in (0, 400)
    assert (error.prompt_tokens, error.context_tokens) == (0, 0)


def test_a_huge_text_is_cut():
    error = parse_server_error({"error": "x" * 1_000_000})

    assert error is not None
    assert len(error.text) < 10_000
