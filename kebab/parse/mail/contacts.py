"""Reads contacts (vCard 2.1, 3.0 and 4.0): each contact is a section."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from kebab.core.documents import Metadata, ParsedDocument
from kebab.parse.blocks import TextBuilder
from kebab.parse.mail.content_lines import Component, list_categories, read_components, split_value
from kebab.parse.metadata import list_unique

_LABELS = {
    "NICKNAME": "Nickname",
    "ORG": "Organisation",
    "TITLE": "Position",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "LABEL": "Address",
    "IMPP": "Messenger",
    "URL": "URL",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "GENDER": "Gender",
    "LANG": "Language",
    "RELATED": "Related",
    "MEMBER": "Member",
    "CATEGORIES": "Categories",
}
_STRUCTURED = frozenset({"ADR", "ORG"})
_NAME_ORDER = (3, 1, 2, 0, 4)
"""The prefix, the given, further and family names, and the suffix, in the fields of `N`."""


class ContactParser:
    """Parses contacts."""

    version = "vcard-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; a file of one contact has its name as title.

        Raises:
            ParseFailed: The file has no contact.
        """
        found = read_components(data, path, self.version)
        cards = [one for one in found.components if one.kind == "VCARD"]
        builder = TextBuilder()
        for card in cards:
            builder.add_heading(1, _name_contact(card))
            builder.add_paragraph("\n".join(dict.fromkeys(_list_fields(card))))
            own = (one for one in card.properties if one.name.startswith("X-"))
            builder.leave_out("fields of programs", " ".join(one.text for one in own))
            for note in card.list_all("NOTE"):
                builder.add_paragraph(note.text)
        metadata = Metadata(
            title=PurePosixPath(path).name, tags=list_unique(list_categories(cards))
        )
        if len(cards) == 1:
            fields = cards[0].list_all("NICKNAME")
            nicknames = (name for field in fields for name in split_value(field.value, ","))
            metadata = metadata._replace(
                title=_name_contact(cards[0]), aliases=list_unique(nicknames)
            )
        warnings = found.warnings if cards else (*found.warnings, "the file has no contacts")
        return builder.build(path, metadata, warnings=warnings)


def _name_contact(card: Component) -> str:
    """Return the name of a contact, else the first thing that names it."""
    name = card.find("N")
    parts = [*split_value(name.value), "", "", "", ""] if name else []
    names = (parts[index].replace(",", " ") for index in _NAME_ORDER if parts)
    ordered = " ".join(" ".join(names).split())
    others = (card.read(field) for field in ("NICKNAME", "ORG", "EMAIL", "TEL"))
    return card.read("FN") or ordered or next(filter(None, others), "(without a name)")


def _list_fields(card: Component) -> Iterator[str]:
    """Yield the fields of a contact, each as a line."""
    for one in card.properties:
        label = _LABELS.get(one.name)
        value = " ".join(one.text.split())
        if one.name in _STRUCTURED:
            value = ", ".join(filter(None, split_value(one.value)))
        # Pictures, keys and sounds are data; other names are of programs.
        if label and value and one.parameters.get("VALUE", "").lower() != "binary":
            kinds = f" ({one.types})" if one.types else ""
            yield f"{label}{kinds}: {value.removeprefix('mailto:').removeprefix('tel:')}"
