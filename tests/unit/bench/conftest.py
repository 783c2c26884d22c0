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
    from kebab.embed import model_directory
    from kebab.embed.registry import MINILM

    directory = tmp_path / "installed" / MINILM.version
    directory.mkdir(parents=True)
    for name in model_directory.FILES:
        (directory / name).write_bytes(b"{}")
    manifest = model_directory.Manifest(
        model=MINILM.name,
        embedding_version=MINILM.version,
        source="test",
        precision="int8",
        cosine=None,
        files={
            name: model_directory.read_file_facts(directory / name)
            for name in model_directory.FILES
        },
    )
    model_directory.write_manifest(directory, manifest)
    return directory.parent
