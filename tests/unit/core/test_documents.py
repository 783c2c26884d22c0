from kebab.core.documents import build_last_scan_key, build_named_files_key


def test_each_source_has_its_own_keys():
    keys = {
        build(name)
        for build in (build_last_scan_key, build_named_files_key)
        for name in ("/notes", "/other")
    }

    assert len(keys) == 4
    assert build_last_scan_key("/notes").startswith("scanned:")
