import io
import tarfile

from tools.trial.corpus import extract_documentation


def test_only_markdown_of_the_folder_docs_is_written(tmp_path):
    archive = tmp_path / "tool-1.tar.gz"
    names = ("README.md", "docs/a.md", "docs/deep/b.md", "docs/logo.svg", "src/docs/c.md")
    with tarfile.open(archive, "w:gz") as target:
        for name in (*(f"tool-1/{one}" for one in names), "tool-1/docs/../../out.md"):
            member = tarfile.TarInfo(name)
            member.size = len(name)
            target.addfile(member, io.BytesIO(name.encode()))

    extract_documentation(archive, tmp_path / "docs")

    written = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.md")}
    assert written == {"docs/a.md", "docs/deep/b.md"}
    assert (tmp_path / "docs" / "a.md").read_text() == "tool-1/docs/a.md"
