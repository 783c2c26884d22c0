import pytest

from kebab.parse.html_page import BLOCKS, DROP, NOT_CONTENT, is_left_out


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("a", 'class="headerlink" href="#x"'),
        ("div", 'id="x" class="a breadcrumbs b"'),
        ("ul", 'id="toc"'),
        ("h1", f'{DROP}=""'),
        ("section", f'id="a" {DROP}=""'),
    ],
)
def test_marked_elements_and_those_around_the_content_are_left_out(name, attributes):
    assert is_left_out(name, f"{name} {attributes}")


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("div", 'class="tocsin"'),
        ("div", 'class="my-toc-list"'),
        ("section", 'class="toc"'),
        ("img", f'{DROP}=""'),
        ("p", 'data-id="toc"'),
        ("p", 'title="toc"'),
    ],
)
def test_other_elements_are_kept(name, attributes):
    assert not is_left_out(name, f"{name} {attributes}")


def test_no_block_is_left_out_by_its_name():
    assert not set(BLOCKS) & set(NOT_CONTENT)
