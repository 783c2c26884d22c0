import pytest

from kebab.core.progress import Cancel
from kebab.doctor.checks import Check, fail, succeed, warn
from kebab.doctor.repairs import Plan, Remedy, run_repairs
from kebab.errors.catalog import IoError, Locked
from kebab.wire.repair import RepairCopy

COPY = RepairCopy(path="/copy", bytes=7, hint="cp")
FULL = IoError(path="/copy", op="create", cause="the disk is full")


class Store:
    """A store with faults by name; `repair` removes one."""

    def __init__(self, *faults):
        self.faults = set(faults)
        self.log = []

    def remedy(self, kind, *, drops=False, works=True, needs=(), status=fail, **more):
        def find():
            return status(f"{kind} is ill", "fix") if kind in self.faults else succeed("well")

        def apply():
            self.log.append(kind)
            if isinstance(works, Exception):
                raise works
            self.faults -= {kind} if works else set()

        return Remedy(
            kind=kind,
            checks=[Check(f"{kind} check", find, "fix")],
            plan=lambda: Plan(action="mend", drops=drops, bytes=3),
            apply=apply,
            needs=[remedy.checks[0] for remedy in needs],
            **more,
        )

    def copy(self):
        self.log.append("copy")
        return COPY


def run(store, *remedies, make_copy=None, cancel=None):
    told: list[str] = []
    done, copy = run_repairs(remedies, make_copy or store.copy, told.append, cancel or Cancel())
    return [(one.kind, one.outcome, one.reason) for one in done], copy


def test_repairs_run_in_order_after_one_copy():
    store = Store("database", "vectors", "leftovers")
    remedies = [store.remedy(kind, drops=kind != "database") for kind in store.faults]

    done, copy = run(store, *remedies)

    assert {outcome for _, outcome, _ in done} == {"repaired"}
    assert copy == COPY
    assert store.log.count("copy") == 1
    assert store.faults == set()


def test_without_a_loss_there_is_no_copy():
    store = Store("vectors")

    assert run(store, store.remedy("vectors"), store.remedy("reviews")) == (
        [("vectors", "repaired", None)],
        None,
    )
    assert store.log == ["vectors"]


def test_a_fault_that_is_still_there_is_not_repaired():
    store = Store("database", "vectors")

    done, _ = run(store, store.remedy("database", works=False), store.remedy("vectors", works=FULL))

    assert done == [
        ("database", "failed", "the check still finds: database is ill"),
        ("vectors", "failed", FULL.format_message()),
    ]


def test_without_a_copy_nothing_is_dropped():
    store = Store("database", "vectors", "leftovers")

    def refuse():
        raise FULL

    done, copy = run(
        store,
        store.remedy("database", drops=True),
        store.remedy("vectors"),
        store.remedy("leftovers", drops=True),
        make_copy=refuse,
    )

    assert [outcome for _, outcome, _ in done] == ["refused", "repaired", "refused"]
    assert copy is None
    assert store.log == ["vectors"]


def test_a_repair_waits_for_what_it_needs():
    store = Store("database", "vectors")
    database = store.remedy("database", works=False)

    done, _ = run(store, database, store.remedy("vectors", needs=[database]))

    assert [kind for kind, _, _ in done] == ["database"]


def test_a_note_is_no_fault_where_only_faults_are_repaired():
    store = Store("reviews")

    assert run(store, store.remedy("reviews", status=warn, statuses=("fail",))) == ([], None)


def test_a_cancelled_run_says_what_is_left():
    store = Store("database")
    cancel = Cancel()
    cancel.request()

    assert run(store, store.remedy("database"), cancel=cancel)[0] == [("database", "planned", None)]
    assert store.log == []


def test_another_writer_ends_the_run():
    store = Store("database")

    with pytest.raises(Locked):
        run(store, store.remedy("database", works=Locked(path="/d", holder_pid=1)))
