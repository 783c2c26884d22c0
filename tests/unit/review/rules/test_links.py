"""Links to what does not exist are found, and links that sites resolve are not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.core.review import Finding, Site
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.rules.links import (
    BrokenAnchor,
    BrokenLink,
    LinkCase,
    MissingImage,
    MissingNote,
    UndefinedReference,
    list_doubtful,
)
from kebab.review.rules.rule import Rule
from tests.fakes.review import FakeSurroundings, make_document

_FILES = ("b.md", "sub/c.md", "sub", "a b.md", "x.png", "docs", "docs/d.md", "e.mdx")
_MKDOCS = Site(kind="mkdocs", root="/notes")
_HUGO = Site(
    kind="hugo",
    root="/notes",
    pages=("/notes/content",),
    static=("/notes/static",),
    is_routed=True,
    mentions="[menu] url = /guides/listed/",
)


def _check(
    rule: Rule,
    text: str,
    *,
    path: str = "a.md",
    files: tuple[str, ...] = _FILES,
    anchors: Mapping[str, frozenset[str]] | None = None,
    notes: Mapping[str, Path] | None = None,
    namesakes: Mapping[str, tuple[Path, ...]] | None = None,
    site: Site | None = None,
    routes: frozenset[str] = frozenset(),
) -> list[Finding]:
    surroundings = FakeSurroundings(
        files=frozenset(f"/notes/{name}" for name in files),
        anchors=anchors or {},
        notes=notes or {},
        namesakes=namesakes or {},
        site=site,
        routes=routes,
    )
    markup = read_markup(text, is_mdx=path.endswith(".mdx"))
    return list(rule.check(make_document(text, markup, path=path), surroundings))


@pytest.mark.parametrize(
    "target",
    [
        *("b.md", "./b.md", "b", "b.html", "b/", "sub", "sub/", "sub/c", "sub/../b.md", "b.md?x=1"),
        *("<a b.md>", "a%20b.md", "b.md#part", "/docs/d.md", "e.md", "e"),
        *("https://x.y/z.md", "//x.y/z.md", "mailto:a@b.cd", "#part", "?q", "tel:1", "@site/z.md"),
        *("/unknown/z.md", "/docs/z/", "/docs/z.json", "z.html", "page", "{{ x }}/z.md", "$x/z.md"),
        *("url", "path/to/file.md", "../../z.md", "../out/z.py", "...", "C:\\z.md", "~/z.md"),
    ],
)
def test_links_that_resolve_or_cannot_be_judged_are_no_findings(target: str) -> None:
    assert _check(BrokenLink(), f"[t]({target})") == []


@pytest.mark.parametrize(
    "target", ["z.md", "sub/z.md", "./z.py", "sub/z", "a%20z.md", "/docs/z.md", "z.md#p"]
)
def test_a_link_to_a_missing_file_is_found_at_its_target(target: str) -> None:
    text = f"é [t]({target} 'T')"
    (found,) = _check(BrokenLink(), text)
    assert text[found.start : found.end] == target
    assert (found.rule_id, found.fix) == ("broken-link", None)


def test_links_are_relative_to_the_folder_of_the_document() -> None:
    assert _check(BrokenLink(), "[t](c.md) [u](../b.md)", path="sub/x.md") == []
    assert len(_check(BrokenLink(), "[t](d.md)", path="sub/x.md")) == 1


def test_absolute_paths_begin_at_the_root_or_at_one_of_two_folders_above_it() -> None:
    source = make_document("[t](/docs/z.md)", read_markup("[t](/docs/z.md)")).source
    root = Path("/top/site/docs/notes")
    document = ReviewDocument(replace(source, root=root, file=root / "a.md"))

    def is_found(folder: Path) -> bool:
        surroundings = FakeSurroundings(
            files=frozenset({str(root / "docs"), str(folder / "docs/z.md")})
        )
        return not list(BrokenLink().check(document, surroundings))

    assert [is_found(one) for one in (root, *root.parents)] == [True, True, True, False, False]


def test_addresses_of_pages_may_be_relative_to_the_address_of_the_page() -> None:
    assert _check(BrokenLink(), "[t](../b/)", path="x.md") == []


def test_pages_without_a_suffix_are_not_judged_in_a_site() -> None:
    text = "[t](sub/z)"
    assert len(_check(BrokenLink(), text)) == 1
    assert _check(BrokenLink(), text, site=_MKDOCS) == []
    assert _check(BrokenLink(), f"---\nslug: x\n---\n{text}") == []


def test_a_target_that_two_references_share_is_one_finding() -> None:
    text = "[a][l] [b][l]\n\n[l]: z.md\n"
    (found,) = _check(BrokenLink(), text)
    assert text[found.start : found.end] == "z.md"


def test_the_only_file_of_the_same_name_is_proposed() -> None:
    one = {"z.md": (Path("/notes/new/z.md"),)}
    (found,) = _check(BrokenLink(), "[t](./old/z.md#p)", namesakes=one)
    assert found.edit == "replace"
    assert found.fix is not None
    assert found.fix.text == "./new/z.md#p"
    two = {"z.md": (Path("/notes/new/z.md"), Path("/notes/other/z.md"))}
    (found,) = _check(BrokenLink(), "[t](old/z.md)", namesakes=two)
    assert found.fix is None


def test_a_page_without_a_suffix_may_be_a_note_elsewhere() -> None:
    notes = {"sub/z": Path("/notes/other/sub/z.md")}
    assert _check(BrokenLink(), "[t](sub/z)", notes=notes) == []


@pytest.mark.parametrize("text", ["![i](y.png)", '<img src="y.png">', "![[y.png|20]]"])
def test_an_image_that_does_not_exist_is_found(text: str) -> None:
    (found,) = _check(MissingImage(), text)
    assert text[found.start : found.end] == "y.png"
    assert _check(BrokenLink(), text) == []
    assert _check(MissingImage(), text.replace("y.png", "x.png")) == []


@pytest.mark.parametrize(
    "text",
    [
        *("[[b]]", "[[sub/c#Part|alias]]", "[[Title of b]]", "[[#Part]]", "[[x.png]]"),
        *("[[ -f x ]]", "[[tool.poetry.source]]", "[[Prototype]]", "[[1, 2]]", "[[$x]]", "`[[z]]`"),
    ],
)
def test_known_notes_and_code_in_double_brackets_are_no_findings(text: str) -> None:
    notes = {"Title of b": Path("/notes/b.md")}
    assert _check(MissingNote(), text, notes=notes) == []


@pytest.mark.parametrize("name", ["Weekly review", "missing", "sub/z", "주간 회고"])
def test_a_wiki_link_to_no_note_is_found(name: str) -> None:
    text = f"See [[{name}#Part|it]]"
    (found,) = _check(MissingNote(), text)
    assert text[found.start : found.end] == f"{name}#Part"
    assert found.severity == "suggestion"


@pytest.mark.parametrize(
    "fragment",
    [
        *(
            "the-costs",
            "The%20costs",
            "the_costs",
            "costs-1",
            "costs-2",
            "own",
            "html",
            "^block",
            "label",
        ),
        *("비용", "L10", "top", "", ":~:text=x", "fn1", "user-content-the-costs", "/route"),
    ],
)
def test_anchors_of_the_same_document_are_found_as_sites_write_them(fragment: str) -> None:
    text = (
        "# The costs\n\n## Costs\n\n## Costs\n\n## Costs\n\n## X {#own}\n\n<a id='html'></a>\n\n"
        f"a ^block\n\n(label)=\n## 비용\n\n[t](#{fragment})\n"
    )
    assert _check(BrokenAnchor(), text) == []


def test_a_missing_anchor_is_found_at_its_fragment() -> None:
    text = "# Costs\n\n[t](#coasts)"
    (found,) = _check(BrokenAnchor(), text)
    assert text[found.start : found.end] == "#coasts"


def test_anchors_of_other_files_are_checked_when_they_are_known() -> None:
    anchors = {"/notes/b.md": frozenset({"part"})}
    assert (
        _check(BrokenAnchor(), "[t](b.md#part) [u](sub/c.md#x) [[b#Part]]", anchors=anchors) == []
    )
    assert len(_check(BrokenAnchor(), "[t](b#pa) [[b#Lower]]", anchors=anchors)) == 2


@pytest.mark.parametrize(
    "text", ["{% include x.md %}\n", "--8<-- 'x.md'\n", "::: package.module\n"]
)
def test_anchors_of_documents_that_include_others_are_not_judged(text: str) -> None:
    assert _check(BrokenAnchor(), f"{text}\n[t](#z)") == []


_DEFINITION = "\n\n[other]: b.md\n"


@pytest.mark.parametrize("text", ["Read [the manual][m1].", "[the manual][]", "한글 [책][책 이름]"])
def test_a_label_without_a_definition_is_found(text: str) -> None:
    assert len(_check(UndefinedReference(), text + _DEFINITION)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("[m][d]\n\n[d]: b.md\n", "a[b][c]", "x[0][1]", "[ ] [x]", "[m]", "`[a][b]`", "[a][--b]"),
        *("[a][b::c]", "[a][`b`]", "[a][b][c]", "[a][heading]\n\n# Heading\n"),
    ],
)
def test_brackets_that_may_be_text_are_no_findings(text: str) -> None:
    assert _check(UndefinedReference(), text + _DEFINITION) == []


def test_a_footnote_is_judged_in_a_document_with_many_definitions() -> None:
    text = "[^1]: See [the manual][manual].\n"
    many = "".join(f"\n[{number}x]: b.md" for number in range(4))
    assert _check(UndefinedReference(), text + _DEFINITION) == []
    assert len(_check(UndefinedReference(), text + _DEFINITION + many)) == 1


def test_labels_that_may_be_defined_elsewhere_are_not_judged() -> None:
    text = "[the manual][manual]"
    assert _check(UndefinedReference(), text) == []
    assert _check(UndefinedReference(), text + _DEFINITION, site=_MKDOCS) == []


@pytest.mark.parametrize(
    ("target", "fixed"),
    [
        ("B.md", "b.md"),
        ("Sub/C.md#Part", "sub/c.md#Part"),
        ("./A%20b.md", "./a%20b.md"),
        ("/docs/D.md", "/docs/d.md"),
    ],
)
def test_a_link_in_another_case_has_the_name_of_the_file_as_its_fix(
    target: str, fixed: str
) -> None:
    text = f"[t]({target})"
    (found,) = _check(LinkCase(), text)
    assert found.fix is not None
    assert (found.severity, found.edit, found.fix.text) == ("warning", "replace", fixed)
    assert _check(BrokenLink(), text) == []


def test_a_link_in_another_case_means_the_file_of_its_own_folder() -> None:
    files = ("docs/v1/Start.md", "docs/v2/Start.md", "docs/v1/a.md")
    namesakes = {"start.md": tuple(Path("/notes", one) for one in files[:2])}
    (found,) = _check(
        LinkCase(), "[t](start.md)", path="docs/v1/a.md", files=files, namesakes=namesakes
    )
    assert found.fix is not None
    assert found.fix.text == "Start.md"


@pytest.mark.parametrize(
    "text", ["[t](b.md)", "[t](z.md)", "[t](Sub/)", "[[B]]", "<Https://x.y/B.md>"]
)
def test_other_links_differ_in_more_than_case(text: str) -> None:
    assert _check(LinkCase(), text) == []


_PAGES = ("content/guides/a.md", "content/guides/deep/_index.md", "static/logo/a.png")


@pytest.mark.parametrize(
    "target",
    [
        *("/guides/a/", "/guides/a", "/guides/deep/", "/en/guides/a/", "/base/guides/a/"),
        *("/guides/listed/", "/guides/Declared/", "/tags/x/", "/guides/tags/", "/api/x"),
    ],
)
def test_addresses_that_a_site_may_generate_are_no_findings(target: str) -> None:
    routes = frozenset({"declared"})
    text = f"[t]({target})"
    assert _check(BrokenLink(), text, files=_PAGES, site=_HUGO, routes=routes) == []


def test_an_address_below_a_known_folder_of_a_site_is_judged() -> None:
    text = "[t](/guides/gone/)"
    (found,) = _check(BrokenLink(), text, files=_PAGES, site=_HUGO)
    assert text[found.start : found.end] == "/guides/gone/"
    assert _check(BrokenLink(), text, files=_PAGES) == []
    unknown = _HUGO._replace(is_routed=False)
    assert _check(BrokenLink(), text, files=_PAGES, site=unknown) == []


@pytest.mark.parametrize(
    "shortcode",
    [
        *('{{< ref "a.md" >}}', '{{% relref "/guides/a" %}}', "{{<relref guides/deep>}}"),
        *('{{< ref "elsewhere.md" >}}', '{{</* ref "gone.md" */>}}', '{{< ref path="a" >}}'),
    ],
)
def test_references_of_hugo_that_lead_to_a_page_are_no_findings(shortcode: str) -> None:
    names = {"elsewhere.md": (Path("/notes/content/other/elsewhere.md"),)}
    text = f"[t]({shortcode})"
    path = "content/guides/b.md"
    assert _check(BrokenLink(), text, path=path, files=_PAGES, site=_HUGO, namesakes=names) == []


@pytest.mark.parametrize("shortcode", ['{{< ref "gone.md" >}}', '{{% relref "/guides/gone" %}}'])
def test_a_reference_of_hugo_to_no_page_is_found(shortcode: str) -> None:
    text = f"[t]({shortcode})"
    path = "content/guides/b.md"
    (found,) = _check(BrokenLink(), text, path=path, files=_PAGES, site=_HUGO)
    assert text[found.start : found.end] in ("gone.md", "/guides/gone")
    assert _check(BrokenLink(), text, path=path, files=_PAGES) == []


def test_the_anchor_of_a_reference_of_hugo_is_checked() -> None:
    anchors = {"/notes/content/guides/a.md": frozenset({"part"})}
    path = "content/guides/b.md"
    for fragment, count in (("part", 0), ("other", 1)):
        text = f'[t]({{{{< ref "a.md#{fragment}" >}}}})'
        found = _check(BrokenAnchor(), text, path=path, files=_PAGES, site=_HUGO, anchors=anchors)
        assert len(found) == count


def test_a_path_of_docusaurus_begins_at_the_site() -> None:
    site = Site(kind="docusaurus", root="/notes", pages=("/notes/docs",), is_routed=True)
    assert _check(BrokenLink(), "[t](@site/docs/d.md)", site=site) == []
    assert len(_check(BrokenLink(), "[t](@site/docs/z.md)", site=site)) == 1
    assert _check(BrokenLink(), "[t](@site/docs/z.md)") == []


def test_a_translation_may_link_to_a_page_that_is_not_translated() -> None:
    files = ("docs/en/a.md", "docs/en/guide/b.md", "docs/ko/a.md")
    text = "[t](guide/b.md)"
    assert _check(BrokenLink(), text, path="docs/ko/a.md", files=files, site=_MKDOCS) == []
    assert len(_check(BrokenLink(), "[t](guide/c.md)", path="docs/ko/a.md", files=files)) == 1


@pytest.mark.parametrize(
    "target", ["../images/a.png", "images/a.png", "/images/a.png", "/base/images/a.png"]
)
def test_an_image_of_the_static_folder_is_no_finding(target: str) -> None:
    site = _HUGO._replace(static=("/notes/public",))
    files = ("content/guides/x.md", "public/images/a.png", "content/base/images")
    text = f"![i]({target})"
    assert _check(MissingImage(), text, path="content/guides/x.md", files=files, site=site) == []
    other = text.replace("a.png", "b.png")
    assert len(_check(MissingImage(), other, path="content/guides/x.md", files=files, site=site))


@pytest.mark.parametrize(
    "text",
    [
        '[[redirects]]\nfrom = "/a"\n',
        "{{< code-toggle >}}\n[[redirects]]\n{{< /code-toggle >}}\n",
        "[[source]][17]",
    ],
)
def test_tables_of_toml_and_texts_of_links_are_no_wiki_links(text: str) -> None:
    assert _check(MissingNote(), text) == []


def test_wiki_links_count_in_a_site_that_uses_them() -> None:
    assert _check(MissingNote(), "[[Weekly review]]", site=_MKDOCS) == []
    assert len(_check(MissingNote(), "[[Weekly review]] [[b]]", site=_MKDOCS)) == 1


def test_anchors_of_parts_of_a_site_are_not_judged() -> None:
    assert _check(BrokenAnchor(), "[t](#z)", site=_MKDOCS) == []
    assert _check(BrokenAnchor(), "# T\n\n[t](#z)", path="docs/_part.md") == []
    assert len(_check(BrokenAnchor(), "# T\n\n[t](#z)", site=_MKDOCS)) == 1


def test_a_link_out_of_the_pages_of_a_site_is_judged_where_its_folder_exists() -> None:
    site = Site(kind="mdbook", root="/notes", pages=("/notes/src",))
    files = ("src/a.md", "other/b.md")
    assert _check(BrokenLink(), "[t](../gone/c.md)", path="src/a.md", files=files, site=site) == []
    assert len(_check(BrokenLink(), "[t](../other/c.md)", path="src/a.md", files=files, site=site))
    assert len(_check(BrokenLink(), "[t](gone/c.md)", path="src/a.md", files=files, site=site))


def test_labels_of_sphinx_and_myst_hold_for_all_documents() -> None:
    site = Site(kind="other", root="/notes")
    text = "# A\n\nSee [it](#howto:api-only).\n"

    assert _check(BrokenAnchor(), text, files=("myst.yml",), site=site) == []
    assert len(_check(BrokenAnchor(), text, files=("docs.json",), site=site)) == 1


def test_an_anchor_needs_no_quotation_marks() -> None:
    assert _check(BrokenAnchor(), "<a id=opt-key></a>\n\n# A\n\nSee [it](#opt-key).\n") == []


def test_pages_that_a_program_writes_for_mkdocs_are_not_missing() -> None:
    text = "# A\n\n[chat](docs/chat.md)\n"
    site = _MKDOCS._replace(mentions="plugins:\n  - gen-files\n")

    assert len(_check(BrokenLink(), text, site=_MKDOCS)) == 1
    assert _check(BrokenLink(), text, site=site) == []


def test_links_of_pages_that_a_program_wrote_are_its_own() -> None:
    text = "# A\n\n[b](missing.md)\n"

    assert len(_check(BrokenLink(), text)) == 1
    assert _check(BrokenLink(), f"<!-- DO NOT EDIT -->\n\n{text}") == []


def test_a_menu_may_name_files_of_other_folders() -> None:
    text = "- [b](b.md)\n"
    for path, count in (("site/_sidebar.md", 0), ("site/menu.md", 1)):
        document = make_document(text, read_markup(text), path=path)
        surroundings = FakeSurroundings(
            files=frozenset({"/notes/site/x.md"}), namesakes={"b.md": (Path("/notes/docs/b.md"),)}
        )
        assert len(list(BrokenLink().check(document, surroundings))) == count


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n[b](#0) [c](#_) [d](#label-Quick+start)\n",
        "# A\n\n## The alert [x-alert]\n\n[b](#x-alert)\n",
        "# A\n\n[b](#guide) [c](#core/guide)\n",
        "---\nprops: ['GuideProps']\n---\n\n# A\n\n[b](#guideprops)\n",
        "---\nsass: scss/guide.scss\n---\n\n# A\n\n[b](#guide)\n",
    ],
)
def test_anchors_that_a_site_makes_are_not_missing(text: str) -> None:
    assert _check(BrokenAnchor(), text) == []


def test_the_anchors_of_pages_of_an_unknown_program_are_not_known() -> None:
    surroundings = FakeSurroundings(
        files=frozenset({"/notes/b.html", "/notes/b.md"}),
        anchors={"/notes/b.md": frozenset({"b"}), "/notes/b.html": frozenset({"b"})},
    )
    for target, count in (("b.md#c", 1), ("b.html#c", 0)):
        text = f"# A\n\n[b]({target})\n"
        document = make_document(text, read_markup(text))
        assert len(list(BrokenAnchor().check(document, surroundings))) == count


def test_a_page_that_lacks_nearly_all_anchors_is_filled_by_a_program() -> None:
    links = [f"[{name}](#{name}-mixin)\n\n" for name in ("one", "two", "three", "four", "five")]

    assert len(_check(BrokenAnchor(), f"# A\n\n{''.join(links[:4])}")) == 4
    assert _check(BrokenAnchor(), f"# A\n\n[a](#a)\n\n{''.join(links)}") == []
    assert len(_check(BrokenAnchor(), f"# A\n\n## B\n\n[a](#a) [b](#b)\n\n{''.join(links)}")) == 5


def test_a_page_that_the_configuration_names_is_no_part() -> None:
    text = "## A\n\n[b](#missing)\n"
    site = _MKDOCS._replace(pages=("/notes",))

    assert _check(BrokenAnchor(), text, site=site) == []
    assert len(_check(BrokenAnchor(), text, site=site._replace(mentions="nav: [a.md]"))) == 1


def test_doxygen_finds_images_by_their_names() -> None:
    surroundings = FakeSurroundings(namesakes={"a.png": (Path("/notes/images/a.png"),)})
    for start, count in (("", 1), ("@tableofcontents\n\n", 0)):
        text = f"{start}![a](pics/a.png)\n"
        document = make_document(text, read_markup(text))
        assert len(list(MissingImage().check(document, surroundings))) == count


def test_links_of_exdoc_may_name_functions_and_files_alone() -> None:
    surroundings = FakeSurroundings(
        files=frozenset({"/notes/mix.exs", "/notes/pages/images/a.png"}),
        namesakes={"a.png": (Path("/notes/pages/images/a.png"),)},
        site=Site(kind="other", root="/notes"),
    )
    text = "[`map`](`Enum.map/2`) ![a](assets/a.png)\n"
    document = make_document(text, read_markup(text))

    for rule in (BrokenLink(), MissingImage()):
        assert not list(rule.check(document, surroundings))


@pytest.mark.parametrize(("name", "count"), [("chat.md", 0), ("x/chat.md", 1), ("chat.mdx", 1)])
def test_pages_that_the_configuration_names_are_not_missing(name: str, count: int) -> None:
    site = _MKDOCS._replace(pages=("/notes/docs",), mentions=f"nav:\n  - Chat: {name}\n")

    found = _check(BrokenLink(), "# A\n\n[chat](docs/chat.md)\n", site=site)

    assert len(found) == count


def test_a_page_behind_a_link_has_the_links_of_its_original() -> None:
    surroundings = FakeSurroundings(
        files=frozenset({"/notes/docs/b.md"}), originals={"/notes/a.md": Path("/notes/docs/a.md")}
    )
    text = "[b](b.md) [c](c.md)\n"
    document = make_document(text, read_markup(text))

    found = list(BrokenLink().check(document, surroundings))

    assert [text[one.start : one.end] for one in found] == ["c.md"]


def test_what_a_build_writes_is_not_missing() -> None:
    text = "![a](one.png) ![b](two.png)\n"
    surroundings = FakeSurroundings(built=frozenset({"/notes/one.png"}))

    found = list(MissingImage().check(make_document(text, read_markup(text)), surroundings))

    assert [text[one.start : one.end] for one in found] == ["two.png"]


@pytest.mark.parametrize(
    "target", ["dist/app.js", "Foo.Bar", "4.2", "blob/main/x.py", "../issues/new", ":/0a1b"]
)
def test_what_is_built_or_no_file_is_not_missing(target: str) -> None:
    assert not _check(BrokenLink(), f"[x]({target})\n")


def test_a_definition_is_reported_once() -> None:
    text = "[a][x] [b][x]\n\n[x]: b.md#none\n"

    assert len(_check(BrokenAnchor(), text, anchors={"/notes/b.md": frozenset({"other"})})) == 1


def test_links_about_old_releases_are_not_checked() -> None:
    text = "".join(f"## 1.{number}\n\n[x](lost{number}.md)\n\n" for number in range(5))

    assert len(_check(BrokenLink(), text, path="CHANGELOG.md")) == 2
    assert len(_check(BrokenLink(), text)) == 5


def test_an_anchor_of_another_version_of_a_page_counts() -> None:
    site = Site(kind="docusaurus", root="/notes", pages=("/notes/docs", "/notes/old"))
    anchors = {"/notes/docs/d.md": frozenset({"new"}), "/notes/old/d.md": frozenset({"costs"})}
    files = (*_FILES, "old/d.md")

    def check(fragment: str) -> list[Finding]:
        text = f"[x](/d#{fragment})\n"
        return _check(BrokenAnchor(), text, files=files, site=site, anchors=anchors)

    assert not check("costs")
    assert check("lost")


def test_brackets_of_a_program_are_wiki_links_where_another_one_leads_to_a_note() -> None:
    files = (*_FILES, "package.json")

    assert not _check(MissingNote(), "See [[class]].\n", files=files)
    assert _check(MissingNote(), "See [[class]] and [[b]].\n", files=files)


def test_links_of_signs_alone_have_no_anchor_to_check() -> None:
    assert not _check(BrokenAnchor(), '# A\n\n[\U0001f914](#ideas-kim "Ideas") [¶](#b)\n')
    assert _check(BrokenAnchor(), "# A\n\n[b](#b)\n")


@pytest.mark.parametrize(("mentions", "count"), [("plugins: ['typedoc']", 0), ("", 1)])
def test_references_of_code_are_built_where_the_site_has_a_tool(mentions: str, count: int) -> None:
    site = Site(kind="other", root="/notes", pages=("/notes",), mentions=mentions)

    assert len(_check(BrokenLink(), "[x](api/Chart.md)\n", site=site)) == count


@pytest.mark.parametrize(("name", "is_proposed"), [("b.md", True), ("de/a.md", False)])
def test_a_copy_of_the_document_is_no_new_place_of_a_heading(name: str, is_proposed: bool) -> None:  # noqa: FBT001
    text = "# A\n\nSee [the costs of it](#the-costs-of-it).\n"
    place = Path("/notes", name)
    surroundings = FakeSurroundings(
        anchors={str(place): frozenset({"thecostsofit"})}, headings={"thecostsofit": place}
    )
    (found,) = BrokenAnchor().check(make_document(text, read_markup(text)), surroundings)
    assert (found.fix is not None) is is_proposed


@pytest.mark.parametrize(
    ("sign", "missing", "working", "doubtful"),
    [
        ("mkdocs.yml", 8, 2, {"broken-link"}),
        ("LICENSE", 8, 2, {"broken-link"}),
        ("LICENSE", 8, 3, set()),
        ("LICENSE", 4, 0, set()),
        ("notes.md", 8, 2, set()),  # notes have no build
    ],
)
def test_a_page_of_which_nearly_all_links_lead_nowhere_is_built(
    sign: str, missing: int, working: int, doubtful: set[str]
) -> None:
    text = "".join(f"[a](no{number}.md)\n" for number in range(missing)) + "[b](b.md)\n" * working
    site = _MKDOCS if sign == "mkdocs.yml" else None
    surroundings = FakeSurroundings(files=frozenset({f"/notes/{sign}", "/notes/b.md"}), site=site)
    document = make_document(text, read_markup(text))
    findings = [*BrokenLink().check(document, surroundings)]
    assert list_doubtful(document, findings, surroundings) == doubtful
