from kebab.app.own_files import list_own_files


def test_the_lock_is_the_last_own_file(desk):
    files = list_own_files(desk.context())

    assert [path.name for path in files] == [
        "kebab.sqlite",
        "kebab.sqlite-wal",
        "kebab.sqlite-shm",
        "reviews.sqlite",
        "reviews.sqlite-wal",
        "reviews.sqlite-shm",
        "lance",
        "stdin",
        "writer.lock",
    ]
    assert {path.parent for path in files} == {desk.data}


def test_own_files_of_a_linked_folder_are_below_the_link(desk):
    (desk.folder / "real").mkdir()
    desk.data.symlink_to(desk.folder / "real")

    assert {path.parent for path in list_own_files(desk.context())} == {desk.data}
