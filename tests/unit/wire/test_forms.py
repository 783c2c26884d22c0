import importlib
import pkgutil

import kebab.wire
from kebab.wire.forms import every_form, name_of
from kebab.wire.record import Record, Request
from kebab.wire.search import Retrieval


def test_every_form_is_named_once():
    names = [name_of(form) for form in every_form()]

    assert len(set(names)) == len(names)
    assert {"search_response.v1", "error.v1", "doctor.v1"} <= set(names)
    assert name_of(Retrieval) is None


def test_no_declared_form_is_missing():
    modules = [
        importlib.import_module(f"kebab.wire.{module.name}")
        for module in pkgutil.iter_modules(kebab.wire.__path__)
    ]
    declared = {
        thing
        for module in modules
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Record | Request) and name_of(thing)
    }

    assert declared == set(every_form())
