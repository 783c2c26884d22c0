"""Random requests are valid, broken or hostile, as they say, and the same for the same seed."""

import json

import msgspec
import pytest

from kebab.app.dispatch import decode_operation_request
from kebab.config.settings import Settings
from kebab.errors.catalog import InvalidInput
from kebab.wire.operations import OPERATIONS
from tools.surfaces.random_requests import RequestMaker


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_valid_request_conforms_to_its_schema(operation):
    maker = RequestMaker(3, {})

    for _ in range(30):
        msgspec.convert(maker.make_valid(operation), OPERATIONS[operation].request)


def test_some_requests_are_refused_and_most_are_not():
    maker = RequestMaker(3, {})
    refused = 0
    for _ in range(300):
        try:
            decode_operation_request("search", maker.make("search"), Settings())
        except InvalidInput:
            refused += 1

    assert 30 < refused < 150


def test_the_same_seed_makes_the_same_requests():
    one, other = RequestMaker(5, {}), RequestMaker(5, {})

    assert [one.make("ask") for _ in range(20)] == [other.make("ask") for _ in range(20)]


def test_known_words_are_used_in_the_fields_that_they_belong_to():
    maker = RequestMaker(3, {"name": ["work/backups.md"]})

    names = {json.dumps(maker.make_valid("inspect_doc")["name"]) for _ in range(30)}

    assert '"work/backups.md"' in names
    assert len(names) > 1
