from kebab.parse.blocks import TextBuilder
from kebab.parse.html import HtmlParser, add_bookmarks, is_bookmark_file

FILE = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1">Harbour &amp; sea</H3>
    <DL><p>
        <DT><A HREF="https://oil.example/?a=1&amp;b=2" ADD_DATE="2" TAGS="oil,lamps">Oil prices</A>
        <DD>Every Friday
        <DT><A HREF="https://tides.example/">물때표</A>
        <DT><H3>Fog</H3>
        <DL><p><DT><A HREF="javascript:alert(1)">Bell</A></DL><p>
    </DL><p>
    <DT><A HREF="https://last.example/"></A>
</DL>"""


def test_bookmarks_are_lists_below_their_folders():
    document = HtmlParser().parse(FILE.encode(), "bookmarks.html")

    assert document.text == (
        "# Bookmarks\n\n## Harbour & sea\n\n"
        "- Oil prices <https://oil.example/?a=1&b=2> (oil,lamps): Every Friday\n"
        "- 물때표 <https://tides.example/>\n\n"
        "### Fog\n\n- Bell\n- https://last.example/ <https://last.example/>"
    )
    assert document.title == "Bookmarks"


def test_other_pages_are_no_bookmarks():
    assert not is_bookmark_file("<!doctype html><h3>Bookmarks</h3>")


def test_a_broken_file_of_bookmarks_is_read():
    builder = TextBuilder()
    add_bookmarks(builder, "</DL></DL><DD>x<A HREF='y'>z</A><H3>a")

    assert builder.build("b.html").text == "- z"
