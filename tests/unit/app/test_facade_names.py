from kebab.app.facade import list_names
from kebab.config.load import load_settings


def names(desk, kind, prefix=""):
    return list_names(load_settings(environ={}, flags=desk.flags), desk.config, kind, prefix)


def test_names_are_sorted_and_listed_once(desk):
    for name in ("b", "a"):
        desk.write(f"{name}.md", f"---\ntags: [home, {name}]\n---\nabout {name}\n")
    desk.ingest()

    assert names(desk, "tags") == ["a", "b", "home"]
    assert names(desk, "documents", "a") == ["a.md"]
    assert names(desk, "sources") == [str(desk.notes)]


def test_a_document_is_completed_by_the_beginning_of_its_name(desk):
    desk.write("deep/Cards view.md", "## Settings\ntext\n")
    desk.ingest()

    assert names(desk, "documents", "cards v") == ["deep/Cards view.md"]
    assert names(desk, "documents", "view") == []
