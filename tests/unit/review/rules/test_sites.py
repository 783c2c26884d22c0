"""Sites are detected from the configuration of their generators."""

from collections.abc import Mapping

import pytest

from kebab.core.review import Site
from kebab.review.rules.sites import detect_site, list_originals, strip_copy


def _detect(files: Mapping[str, str]) -> Site | None:
    def exists(path: str) -> bool:
        return any(f"/s/{name}" == path or f"/s/{name}".startswith(f"{path}/") for name in files)

    return detect_site("/s", exists, lambda path: files.get(path.removeprefix("/s/"), ""))


@pytest.mark.parametrize(
    ("files", "kind", "pages"),
    [
        ({"hugo.toml": "", "content/a.md": ""}, "hugo", ["/s/content"]),
        ({"config.toml": "", "content/a.md": "", "layouts/x": ""}, "hugo", ["/s/content"]),
        (
            {"hugo.yaml": "contentDir: content/en", "content/en/a.md": ""},
            "hugo",
            ["/s/content/en", "/s/content"],
        ),
        (
            {
                "docusaurus.config.ts": "path: 'guides',",
                "guides/a.md": "",
                "versions.json": '["2.x", "1.x"]',
                "versioned_docs/version-2.x/a.md": "",
            },
            "docusaurus",
            ["/s/guides", "/s/versioned_docs/version-2.x"],
        ),
        ({"mkdocs.yml": "docs_dir: pages\n", "pages/a.md": ""}, "mkdocs", ["/s/pages"]),
        ({".vitepress/config.mts": "", "a.md": ""}, "vitepress", ["/s"]),
        ({"astro.config.mjs": "", "src/content/docs/a.md": ""}, "astro", ["/s/src/content/docs"]),
        ({"book.toml": "[book]\nsrc = 'book'\n", "book/a.md": ""}, "mdbook", ["/s/book"]),
        ({"_config.yml": "", "a.md": ""}, "jekyll", ["/s"]),
    ],
)
def test_a_site_is_known_by_its_configuration(
    files: Mapping[str, str], kind: str, pages: list[str]
) -> None:
    site = _detect(files)
    assert site is not None
    assert site.kind == kind
    assert [one for one in site.pages if one != "/s/src/content"] == pages


@pytest.mark.parametrize("files", [{"a.md": ""}, {"config.toml": "", "src/a.rs": ""}])
def test_a_folder_without_a_generator_is_no_site(files: Mapping[str, str]) -> None:
    assert _detect(files) is None


@pytest.mark.parametrize(
    ("files", "is_routed"),
    [
        ({"hugo.toml": "", "content/a.md": ""}, True),
        ({"hugo.toml": "[permalinks]\n", "content/a.md": ""}, False),
        ({"mkdocs.yml": "", "docs/a.md": ""}, False),
        ({".vitepress/config.js": "rewrites: {}"}, False),
    ],
)
def test_addresses_follow_paths_unless_the_configuration_says_otherwise(
    files: Mapping[str, str],
    is_routed: bool,  # noqa: FBT001
) -> None:
    site = _detect(files)
    assert site is not None
    assert site.is_routed is is_routed


def test_the_template_of_a_summary_belongs_to_what_a_book_mentions() -> None:
    site = _detect({"book.toml": "", "src/SUMMARY.md.in": "[all](commands/all.md)"})
    assert site is not None
    assert "commands/all.md" in site.mentions


def test_redirects_belong_to_what_a_site_mentions() -> None:
    site = _detect({"hugo.toml": "", "content/a.md": "", "static/_redirects": "/old /new"})
    assert site is not None
    assert "/old" in site.mentions


@pytest.mark.parametrize(
    ("path", "stripped"),
    [
        ("docs/guides/a.md", "guides/a.md"),
        ("docs/v1.2/guides/a.md", "guides/a.md"),
        ("versioned_docs/version-2.x/guides/a.md", "guides/a.md"),
        ("i18n/ko/docusaurus-plugin-content-docs/current/guides/a.md", "guides/a.md"),
        ("content/pt-BR/guides/a.md", "guides/a.md"),
        ("guides/js/a.md", "guides/js/a.md"),
    ],
)
def test_copies_of_versions_and_languages_share_a_path(path: str, stripped: str) -> None:
    assert strip_copy(path) == stripped


def test_a_translation_falls_back_to_other_paths() -> None:
    assert list(list_originals("docs/ko/a.md")) == ["docs/a.md", "docs/en/a.md"]
    path = "i18n/ko/docusaurus-plugin-content-docs/current/a.md"
    assert "docs/a.md" in list(list_originals(path))
    assert list(list_originals("docs/a.md")) == []
