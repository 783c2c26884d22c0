"""Commands put the MCP server together in one way."""

import anyio
import httpx2
import pytest

from kebab.cli import mcp
from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.config.settings import Settings
from tests.unit.mcp.test_stdio_handshake import initialize


@pytest.fixture
def context():
    channels = OutputChannels(OutputChannel(1, "<stdout>"), OutputChannel(2, "<stderr>"))
    return CommandContext(channels, Interrupts(lambda: None))


def test_the_application_answers_a_client(context, tmp_path):
    application = mcp.build_application(
        context, Settings(data_dir=str(tmp_path)), allow_write=False
    )

    assert application is not None

    async def main():
        transport = httpx2.ASGITransport(app=application)
        async with application.run(), httpx2.AsyncClient(transport=transport) as http:
            headers = {"accept": "application/json, text/event-stream"}
            message = initialize("2025-06-18")
            return await http.post("http://127.0.0.1/mcp", json=message, headers=headers)

    result = anyio.run(main).json()["result"]

    assert result["serverInfo"]["name"] == "kebab"
    assert "Nothing is indexed yet" in result["instructions"]


def test_without_the_sdk_there_is_none(context, monkeypatch):
    monkeypatch.setattr(mcp, "find_spec", lambda _: None)

    assert mcp.build_application(context, Settings(), allow_write=False) is None
