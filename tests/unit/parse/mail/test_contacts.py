"""Contacts of all versions of vCard."""

from pathlib import Path

from kebab.parse.registry import PARSERS

SAMPLE = Path("samples/formats/harbour.vcf")


def test_each_contact_is_a_section_with_its_fields():
    text = PARSERS["text/vcard"].parse(SAMPLE.read_bytes(), "harbour.vcf").text
    assert text == (
        "# Karsten Möller\n\n"
        "Organisation: Harbour office, Moorings\n"
        "Phone (work): +49 431 5550117\n"
        "E-mail: karsten@example.org\n"
        "Address (work): Hafenstraße 12, Kiel, 24103, Germany\n\n"
        "Has the keys of the crane.\nCall before noon.\n\n"
        "# Mi-rae Han\n\n"
        "Phone (cell, home): +82-2-555-0142\n\n"
        "Repairs sails, also on Sundays."
    )


def test_a_file_of_one_contact_has_its_name_and_nicknames():
    data = b"BEGIN:VCARD\nFN:Ann Lee\nNICKNAME:Annie,AL\nCATEGORIES:crew\nEND:VCARD"
    metadata = PARSERS["text/vcard"].parse(data, "a.vcf").metadata
    assert (metadata.title, metadata.aliases, metadata.tags) == (
        "Ann Lee",
        ("Annie", "AL"),
        ("crew",),
    )
