from kebab.embed import hub
from kebab.embed.models import E5_SMALL


def test_the_hub_is_the_public_one_unless_a_mirror_is_named(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert hub.endpoint() == "https://huggingface.co"

    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert hub.endpoint() == "https://mirror.example"


def test_a_password_in_the_address_is_not_told(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://me:hidden@mirror.example")
    offer = hub.offer(E5_SMALL)

    assert "hidden" not in offer.label + offer.source
    assert "mirror.example" in offer.label


def test_the_client_is_told_to_be_quiet_and_plain():
    environment = hub.offer(E5_SMALL).environment

    assert environment["HF_HUB_DISABLE_PROGRESS_BARS"] == "1"
    assert environment["HF_HUB_DISABLE_TELEMETRY"] == "1"
