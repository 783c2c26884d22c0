from kebab.server.pictures import locate_picture


def test_a_picture_lies_in_the_folder_of_the_source(tmp_path):
    note, folder = tmp_path / "source" / "a" / "note.md", tmp_path / "source"
    note.parent.mkdir(parents=True)
    for name in ("source/x.png", "source/x.svg", "out.png"):
        (tmp_path / name).touch()
    (folder / "y.png").symlink_to(folder / "x.svg")

    assert locate_picture(str(note), str(folder), "../x.png") == (folder / "x.png").resolve()
    wrong = ("../../out.png", "/x.png", "../x.svg", "../y.png", "gone.png", "", "..", "x\0.png")
    for source in (*wrong, "x" * 5_000 + ".png"):
        assert locate_picture(str(note), str(folder), source) is None
