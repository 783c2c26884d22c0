"""Generated requests, valid and broken, get the answers that the OpenAPI document describes."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import GenerationMode
from schemathesis.openapi import from_asgi
from schemathesis.specs.openapi.checks import positive_data_acceptance

from kebab.server.application import build_application
from kebab.server.openapi import build_path
from kebab.wire.operations import REMOTE_OPERATIONS
from tests.unit.server.conftest import BEARER, make_options, make_site, opened, pool  # noqa: F401

HEADERS = {**BEARER, "Host": "127.0.0.1"}
QUICKLY = settings(
    max_examples=3, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture
def api(make_site, pool):  # noqa: F811 - a fixture is imported
    app: Any = build_application(make_site())
    return from_asgi("/v1/openapi.json", app, headers=HEADERS, timeout=300)


@pytest.mark.parametrize("operation", REMOTE_OPERATIONS)
def test_generated_requests_get_documented_answers(api, operation):
    described = api[build_path(operation)]["POST"]
    strategies = (described.as_strategy(generation_mode=mode) for mode in GenerationMode)
    for strategy in strategies:

        @QUICKLY
        @given(case=strategy)
        def send(case):
            # Blank bytes are an empty body, which means all defaults.
            assume(not isinstance(case.body, bytes) or case.body.strip())
            # Not every rule of a request is in its schema: an empty question is refused.
            case.call_and_validate(headers=HEADERS, excluded_checks=[positive_data_acceptance])

        send()
