"""What is read of a folder of notes as people keep them."""

from pathlib import Path

import pytest

from kebab.core.documents import Metadata
from kebab.parse.text.markdown import MarkdownParser

VAULT = Path(__file__).parents[4] / "samples" / "formats" / "vault"
ADA = ("Ada Brook",)
CASES = {
    "Home.md": Metadata(tags=("hub",), date="2024-01-15", aliases=("Start", "Index")),
    "March 12, 2024.md": Metadata("Damaged: front matter with a bare colon", ("damaged",)),
    "exported.md": Metadata(),
    "journals/2024-03-01.md": Metadata(tags=("work/harbour",)),
    "journals/2024_03_02.md": Metadata(tags=("work/harbour", "weather", "storm")),
    "people/Ada Brook.md": Metadata(
        "Ada Brook", ("people",), date="2023-11-05", aliases=("A. Brook",)
    ),
    "projects/Tide clock.md": Metadata(
        "Tide clock",
        ("work/harbour", "hardware", "buy/brass"),
        authors=ADA,
        date="2024-02-20",
        aliases=("Gezeitenuhr", "tide-clock"),
    ),
    "recipe.mdx": Metadata("Fish soup", ("cooking",), authors=ADA, date="2024-03-05"),
    "shortcodes.md": Metadata(
        "Visiting the lighthouse",
        ("visit",),
        authors=("Ada Brook", "김하늘"),
        date="2024-03-10T08:00:00Z",
    ),
    "회의 2024-03-04.md": Metadata(
        "항구 회의록", ("회의", "항구/공사", "항구/등대"), authors=("김하늘",)
    ),
}
LINKS = {
    "Home.md": ("projects/Tide clock", "Ada Brook", "journals/2024-03-01.md", "harbour.png"),
    "projects/Tide clock.md": ("people/Ada Brook", "Home", "journals/2024-03-01"),
    "people/Ada Brook.md": ("../projects/Tide clock.md",),
    "journals/2024-03-01.md": ("Tide clock",),
    "회의 2024-03-04.md": ("projects/Tide clock",),
}


def parse(name):
    return MarkdownParser().parse((VAULT / name).read_bytes(), name)


def test_every_note_of_the_vault_has_its_case():
    assert set(CASES) == {
        path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*.md*") if path.is_file()
    }


@pytest.mark.parametrize("name", CASES)
def test_links_lead_to_other_notes(name):
    assert parse(name).links == LINKS.get(name, ())
