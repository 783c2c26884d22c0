"""Generated requests, valid and broken, get the answers that the OpenAPI document describes."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import GenerationMode
from schemathesis.openapi import from_asgi
from schemathesis.specs.openapi.checks import positive_data_acceptance

from kebab.config.settings import Settings
from kebab.http.application import build_path
from kebab.http.service import Service, ServiceOptions
from kebab.wire.operations import REMOTE_OPERATIONS
from tests.unit.http.conftest import BEARER, FakePool, build_app

HEADERS = {**BEARER, "Host": "127.0.0.1"}
QUICKLY = settings(
    max_examples=3, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    options = ServiceOptions(
        config_path=folder / "config.toml",
        load_settings=lambda: Settings(data_dir=str(folder)),
        allow_write=True,
    )
    scripted: Any = FakePool()
    service = Service(options, scripted)
    yield from_asgi("/v1/openapi.json", build_app(service), headers=HEADERS, timeout=300)
    service.close()


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("operation", REMOTE_OPERATIONS)
def test_generated_requests_get_documented_answers(api, operation, mode):
    strategy = api[build_path(operation)]["POST"].as_strategy(generation_mode=mode)

    @QUICKLY
    @given(case=strategy)
    def send(case):
        # Blank bytes are an empty body, which means all defaults.
        assume(not isinstance(case.body, bytes) or case.body.strip())
        # Not every rule of a request is in its schema: an empty question is refused.
        case.call_and_validate(headers=HEADERS, excluded_checks=[positive_data_acceptance])

    send()
