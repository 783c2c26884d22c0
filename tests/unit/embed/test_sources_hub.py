from kebab.embed.registry import E5_SMALL
from kebab.embed.sources import build_hub_source


def test_the_hub_is_the_public_one_unless_a_mirror_is_named(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert build_hub_source(E5_SMALL).environment["HF_ENDPOINT"] == "https://huggingface.co"

    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert build_hub_source(E5_SMALL).environment["HF_ENDPOINT"] == "https://mirror.example"


def test_a_password_in_the_address_is_not_reported(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://me:hidden@mirror.example")
    source = build_hub_source(E5_SMALL)

    assert "hidden" not in source.label + source.source
    assert "mirror.example" in source.label


def test_the_client_shows_no_progress_and_sends_no_telemetry():
    environment = build_hub_source(E5_SMALL).environment

    assert environment["HF_HUB_DISABLE_PROGRESS_BARS"] == "1"
    assert environment["HF_HUB_DISABLE_TELEMETRY"] == "1"
