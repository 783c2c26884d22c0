import pytest

from kebab.bench.pace import Pace
from kebab.bench.rig import BenchOptions, Rig
from tests.fakes.runner import FakeRunner


@pytest.fixture
def make_rig(tmp_path):
    """Return what makes a rig over a twin of the process runner."""

    def make(*, runs=2, chunks=12, sizes=(12, 120), models=None, **script):
        return Rig(
            folder=tmp_path / "bench",
            models=models or tmp_path / "models",
            options=BenchOptions(chunks=chunks, files=chunks, sizes=sizes, runs=runs),
            pace=Pace(lambda event: None),
            runner=FakeRunner(**script),
        )

    return make


@pytest.fixture
def models(tmp_path):
    """Return a folder of models that seems to hold one."""
    from kebab.embed import layout
    from kebab.embed.models import MINILM

    directory = tmp_path / "installed" / MINILM.version
    directory.mkdir(parents=True)
    for name in layout.FILES:
        (directory / name).write_bytes(b"{}")
    manifest = layout.Manifest(
        model=MINILM.name,
        embedding_version=MINILM.version,
        source="test",
        precision="int8",
        cosine=None,
        files={name: layout.facts(directory / name) for name in layout.FILES},
    )
    layout.write_manifest(directory, manifest)
    return directory.parent
