from kebab.errors.catalog import build_catalog
from kebab.wire.error import build_error_rows
from tools.error_catalog import render_errors_page


def test_the_page_holds_a_section_for_every_code():
    page = render_errors_page()

    assert [code for code in build_catalog() if f"\n## {code}\n" not in page] == []


def test_the_page_says_how_long_to_wait_and_what_is_reserved():
    page = render_errors_page()

    assert page.count("\n- try again: ") == sum(
        one.backoff is not None for one in build_error_rows()
    )
    assert page.count("\n- reserved: ") == sum(one.reserved for one in build_error_rows())
