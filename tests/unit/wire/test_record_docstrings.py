from kebab.wire.error import Warned
from kebab.wire.json_schema import list_records
from kebab.wire.record import read_field_docstrings


def test_text_below_a_field_is_its_documentation_inherited_fields_included():
    texts = read_field_docstrings(Warned)

    assert texts["message"] == "One sentence for a person."
    assert "RFC 3339" in texts["timestamp"]


def test_every_field_of_every_record_is_documented():
    bare = [
        f"{form.__name__}.{name}"
        for form in list_records()
        for name in form.__struct_fields__
        if not read_field_docstrings(form).get(name)
    ]

    assert bare == []
