"""Downloads the documentation that the trial searches."""

import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

PACKAGES = (
    "hatch==1.18.2",
    "starlette==1.9.0",
    "click==8.5.1",
    "copier==9.9.1",
    "cibuildwheel==4.3.5",
    "jupyterlab==4.6.6",
)
"""Source distributions with Markdown documentation in `docs`."""

_SUFFIX = ".md"


def prepare_corpus(folder: Path) -> Path:
    """Return the folder of the documentation below `folder`, downloaded on the first call."""
    docs = folder / "docs"
    for package in PACKAGES:
        name = package.partition("==")[0]
        if not (docs / name).exists():
            extract_documentation(download_source(package, folder / "archives"), docs / name)
    return docs


def download_source(package: str, folder: Path) -> Path:
    """Return the archive of a source distribution, downloaded with pip."""
    name, _, version = package.partition("==")
    # Only the package itself must be a source distribution, not what pip needs to look at it.
    arguments = ("download", "--quiet", "--no-deps", "--no-binary", name, "--dest", str(folder))
    subprocess.run([sys.executable, "-m", "pip", *arguments, package], check=True)  # noqa: S603 - pip
    return next(folder.glob(f"{name}-{version}.tar.gz"))


def extract_documentation(archive: Path, target: Path) -> None:
    """Write the Markdown files of an archive's folder `docs` to a folder."""
    with tarfile.open(archive) as source:
        for member in source:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if not member.isfile() or path.suffix != _SUFFIX or path.parts[0] != "docs":
                continue
            file = target.joinpath(*path.parts[1:])
            if ".." in path.parts or (content := source.extractfile(member)) is None:
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.read())
