import importlib
import pkgutil

import kebab.wire
from kebab.wire.json_schema import get_schema_name, list_records
from kebab.wire.record import Record, Request
from kebab.wire.search import Retrieval


def test_every_record_is_named_once():
    names = [get_schema_name(form) for form in list_records()]

    assert len(set(names)) == len(names)
    assert {"search_response.v1", "error.v1", "doctor.v1"} <= set(names)
    assert get_schema_name(Retrieval) is None


def test_no_declared_form_is_missing():
    modules = [
        importlib.import_module(f"kebab.wire.{module.name}")
        for module in pkgutil.iter_modules(kebab.wire.__path__)
    ]
    declared = {
        thing
        for module in modules
        for thing in vars(module).values()
        if isinstance(thing, type)
        and issubclass(thing, Record | Request)
        and get_schema_name(thing)
    }

    assert declared == set(list_records())
