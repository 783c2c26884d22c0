import pytest

from kebab.app.published_copy import PublishedCopy
from kebab.config.load import load_settings
from kebab.errors.catalog import IoError


def _open(url, **flags):
    return PublishedCopy(load_settings(environ={}, flags={"data_dir": url, **flags}))


def test_the_stored_vectors_tell_the_model():
    copy = _open("s3://bucket/x", **{"models.embedding.model": "multilingual-e5-small"})

    assert copy.settings.models.embedding.model == "auto"


def test_the_age_is_told_only_when_the_store_cannot_be_asked(publish_notes):
    folder = publish_notes("docs", {"a.md": "# A\n\ncats\n"})
    copy = _open(f"file://{folder}")
    assert copy.describe_age() is None
    first = copy.open(1_000.0)
    assert copy.describe_age() is None
    (folder / "base.json").unlink()
    assert not copy.has_changed(2_000.0)
    assert "nothing is published" in copy.describe_age()
    assert copy.open(2_001.0) == first
    (folder / "base.json").write_text("{")
    assert not copy.has_changed(3_000.0)
    assert "no description" in copy.describe_age()


def test_nothing_is_looked_at_before_the_first_use(tmp_path):
    copy = _open(f"file://{tmp_path / 'nowhere'}")

    assert not copy.has_changed(1.0)
    with pytest.raises(IoError):
        copy.open(1.0)
