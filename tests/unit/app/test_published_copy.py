from kebab.app.published_copy import PublishedCopy
from kebab.config.load import load_settings


def _open(url, **flags):
    return PublishedCopy(load_settings(environ={}, flags={"data_dir": url, **flags}))


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
