"""Fixtures of the benchmarks: a context with a fake runner, and a folder with a fake model."""

import pytest

from kebab.bench.run import BenchContext, BenchOptions
from tests.fakes.runner import FakeRunner


@pytest.fixture
def make_context(tmp_path):
    """Return a function that builds a context with a fake process runner."""

    def make(*, runs=2, chunks=12, models=None, **script):
        return BenchContext(
            folder=tmp_path / "bench",
            models=models or tmp_path / "models",
            options=BenchOptions(chunks=chunks, runs=runs),
            report_progress=lambda name, done, total: None,
            runner=FakeRunner(**script),
        )

    return make


@pytest.fixture
def models(tmp_path):
    """Return a folder of models that seems to hold one."""
    from kebab.embed import install
    from kebab.embed.registry import MINILM

    directory = tmp_path / "installed" / MINILM.version
    directory.mkdir(parents=True)
    for name in install.FILES:
        (directory / name).write_bytes(b"{}")
    manifest = install.Manifest(
        model=MINILM.name,
        embedding_version=MINILM.version,
        source="test",
        precision="int8",
        cosine=None,
        files={name: install.read_file_facts(directory / name) for name in install.FILES},
    )
    install.write_manifest(directory, manifest)
    return directory.parent
