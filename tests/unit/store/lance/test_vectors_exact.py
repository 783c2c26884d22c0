import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kebab.core.chunks import remove_language
from kebab.core.ids import Key, sort_keys
from kebab.errors import system
from kebab.errors.catalog import OutOfMemory, StoreCorrupt
from kebab.store.lance import engine, exact_index, key_file
from kebab.store.lance import vectors as vector_search
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.key_file import TOMBSTONE, KeyFile
from kebab.store.lance.vectors import LanceVectors, MappedVectors


def rows(count, dimension=16, seed=0):
    matrix = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def exhaustive(keys, matrix, query, limit, allowed):
    scored = [
        (-round(float(np.dot(vector.astype(np.float64), query.astype(np.float64))), 5), key)
        for key, vector in zip(keys.tolist(), matrix, strict=True)
        if allowed is None or key in allowed
    ]
    return [key for _, key in sorted(scored)[:limit]]


@pytest.mark.parametrize("allowed", [None, range(0, 600, 2), range(0, 600, 37), [5], []])
@pytest.mark.parametrize("limit", [1, 10, 1_000])
def test_results_equal_an_exhaustive_scan(allowed, limit):
    matrix = rows(600)
    keys = np.random.default_rng(1).permutation(600).astype(np.int64)
    query = rows(1, seed=2)[0]
    index = ExactIndex(keys, [matrix])
    found = [key for key, _ in index.find_nearest(query, limit, allowed)]
    assert found == exhaustive(keys, matrix, query, limit, allowed)


def test_axes_are_removed_from_both_sides_of_a_cosine(monkeypatch):
    matrix, axes = rows(40), np.eye(16, dtype=np.float32)[:2]
    query = rows(1, seed=1)[0]
    left, asked = remove_language(matrix, axes), remove_language(query, axes)
    expected = np.round(left @ asked, 6).tolist()

    index = ExactIndex(np.arange(40), [matrix[:16], matrix[16:]], axes)
    some = index.compute_cosines(query, [Key(3), Key(5)])
    monkeypatch.setattr(exact_index, "LARGE_ROWS", 30)  # read in parts
    nearest = ExactIndex(np.arange(40), [matrix[:16], matrix[16:]], axes).find_nearest(query, 40)

    assert some == pytest.approx({3: expected[3], 5: expected[5]}, abs=2e-6)
    assert dict(nearest) == pytest.approx(dict(enumerate(expected)), abs=2e-6)


def test_tombstones_are_no_results():
    matrix = rows(4)
    index = ExactIndex(np.array([1, TOMBSTONE, 3, TOMBSTONE]), [matrix])
    assert {key for key, _ in index.find_nearest(matrix[1], 9, None)} == {1, 3}
    assert index.count() == 2


def test_of_a_repeated_key_the_last_row_counts():
    matrix = rows(3)
    index = ExactIndex(np.array([7, 8, 7]), [matrix])
    assert np.array_equal(index.get([Key(7)])[Key(7)], matrix[2])
    assert index.count() == 2


def test_equal_vectors_tie_by_key_however_many_rows_are_compared():
    matrix = np.repeat(rows(1, 384), 1_001, axis=0)
    index = ExactIndex(np.arange(1_001)[::-1].copy(), [matrix])
    expected = [0, 1, 2, 3, 4]
    assert [key for key, _ in index.find_nearest(rows(1, 384, 3)[0], 5, None)] == expected
    assert [
        key for key, _ in index.find_nearest(rows(1, 384, 3)[0], 5, [Key(key) for key in range(9)])
    ] == expected


def test_cosines_stay_between_minus_one_and_one():
    matrix = rows(1) * np.float32(1.0000005)
    index = ExactIndex(np.array([1]), [matrix])
    assert index.compute_cosines(matrix[0], [Key(1), Key(2)]) == {1: 1.0}


def test_vectors_are_copies_and_survive_the_file():
    matrix = rows(2)
    vector = ExactIndex(np.array([1, 2]), [matrix]).get([Key(2)])[Key(2)]
    vector[0] = 5
    assert matrix[1, 0] != 5


def test_the_scores_of_a_search_are_reused_for_cosines():
    matrix = rows(500)
    index = ExactIndex(np.arange(500), [matrix])
    one, other = rows(2, seed=4)
    near = dict(index.find_nearest(one, 500))
    assert index.compute_cosines(other, [Key(3)]) == ExactIndex(
        np.arange(500), [matrix]
    ).compute_cosines(other, [Key(3)])
    assert index.compute_cosines(one, [Key(3), Key(9)]) == {
        key: near[key] for key in (Key(3), Key(9))
    }


ROOT = Path(__file__).parents[4]
X = np.array([1, 0, 0], np.float32)
SEARCH = """
import sys
from pathlib import Path
import numpy as np
from kebab.store.lance.vectors import MappedVectors
vectors = MappedVectors(Path(sys.argv[1]), "v", 3)
print([key for key, _ in vectors.find_nearest(np.array([1, 0, 0], np.float32), 2)])
print(sorted({"lancedb", "pyarrow"} & set(sys.modules)))
"""


@pytest.fixture
def writer(tmp_path, make_rows):
    made = LanceVectors(tmp_path, "v", 3)
    made.append(make_rows(0, 1, 2))
    return made


def found(data_dir):
    return [key for key, _ in MappedVectors(data_dir, "v", 3).find_nearest(X, 9)]


def test_a_search_does_not_import_the_database(writer, tmp_path):
    command = [sys.executable, "-c", SEARCH, str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[0, 1]\n[]\n"
    assert run.stderr == ""


def test_one_index_follows_the_table_while_it_grows_and_shrinks(writer, tmp_path, make_rows):
    vectors = MappedVectors(tmp_path, "v", 3)
    assert vectors.count() == 3
    writer.append(make_rows(3))
    assert vectors.count() == 4
    writer.delete([0])
    assert [key for key, _ in vectors.find_nearest(X, 1)] == [1]


@pytest.mark.parametrize("change", ["cut off", "written over", "deleted", "replaced"])
def test_a_mapped_file_is_not_touched_again_after_a_change(change, writer, tmp_path):
    vectors = MappedVectors(tmp_path, "v", 3)
    hits = vectors.find_nearest(X, 9)
    path = key_file.get_key_file_path(tmp_path, "v")
    if change == "cut off":  # reading its pages would end the process
        os.truncate(path, 0)
    elif change == "written over":
        path.write_bytes(bytes(path.stat().st_size))
    else:
        path.rename(tmp_path / "old")
        if change == "replaced":
            path.write_bytes(b"another file")

    assert vectors.find_nearest(X, 9) == hits


def test_vectors_in_memory_are_read_again_when_the_table_was_damaged(writer, tmp_path):
    key_file.get_key_file_path(tmp_path, "v").unlink()
    vectors = MappedVectors(tmp_path, "v", 3, keep=False)
    assert vectors.count() == 3
    for file in (key_file.get_table_path(tmp_path, "v") / "data").iterdir():
        os.truncate(file, 20)

    with pytest.raises(StoreCorrupt):
        vectors.count()


def test_a_missing_key_file_is_rebuilt(writer, tmp_path):
    path = key_file.get_key_file_path(tmp_path, "v")
    path.unlink()
    assert found(tmp_path) == [0, 1, 2]
    assert path.exists()


def test_an_outdated_key_file_is_not_used(writer, tmp_path, make_rows):
    path = key_file.get_key_file_path(tmp_path, "v")
    old = path.read_bytes()
    writer.append(make_rows(5))
    path.write_bytes(old)
    assert found(tmp_path) == [0, 1, 2, 5]


def test_search_works_when_the_key_file_cannot_be_written(writer, tmp_path):
    path = key_file.get_key_file_path(tmp_path, "v")
    path.unlink()
    path.mkdir()
    assert found(tmp_path) == [0, 1, 2]


def test_a_damaged_table_without_a_key_file_is_corrupt(writer, tmp_path):
    key_file.get_key_file_path(tmp_path, "v").unlink()
    for file in (key_file.get_table_path(tmp_path, "v") / "data").iterdir():
        file.write_bytes(b"junk")
    with pytest.raises(StoreCorrupt):
        found(tmp_path)


def test_a_read_only_reader_writes_no_key_file(writer, tmp_path):
    path = key_file.get_key_file_path(tmp_path, "v")
    path.unlink()

    vectors = MappedVectors(tmp_path, "v", 3, keep=False)

    assert [key for key, _ in vectors.find_nearest(X, 2)] == [0, 1]
    assert not path.exists()


def test_a_rebuilt_key_file_is_mapped_and_the_table_not_read_again(writer, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("the table is read into memory")

    key_file.get_key_file_path(tmp_path, "v").unlink()
    monkeypatch.setattr(vector_search, "load_rows", refuse)

    assert found(tmp_path) == [0, 1, 2]


def test_a_rebuilt_key_file_that_cannot_be_mapped_is_replaced_by_memory(
    writer, tmp_path, monkeypatch
):
    monkeypatch.setattr(KeyFile, "map_vectors", lambda _file, _digest: None)

    assert found(tmp_path) == [0, 1, 2]


@pytest.fixture
def late(writer, make_rows, monkeypatch):
    """Commit a row, but leave the vector file behind; return the call that lets it follow."""
    calls = []
    follow = KeyFile.append_runs
    monkeypatch.setattr(KeyFile, "append_runs", lambda *call: calls.append(call))
    writer.append(make_rows(9))
    return lambda: [follow(*calls.pop()) for _ in calls]


def test_a_reader_waits_until_the_key_file_follows_a_commit(late, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("the table is read")

    monkeypatch.setattr("kebab.store.lance.vectors.time.sleep", lambda _: late())
    monkeypatch.setattr(vector_search, "rebuild_key_file", refuse)

    assert sorted(found(tmp_path)) == [0, 1, 2, 9]


def test_a_reader_waits_only_shortly(late, tmp_path):
    assert sorted(found(tmp_path)) == [0, 1, 2, 9]


def test_a_reader_does_not_wait_for_a_writer_of_long_ago(late, writer, tmp_path, monkeypatch):
    def refuse(_):
        raise AssertionError("the reader waits")

    newest = key_file.list_manifests(key_file.get_table_path(tmp_path, "v"))[0]
    os.utime(newest, (1, 1))
    monkeypatch.setattr("kebab.store.lance.vectors.time.sleep", refuse)

    assert sorted(found(tmp_path)) == [0, 1, 2, 9]


DIE = """
import os, signal, sys
from pathlib import Path
import numpy as np
from kebab.core.documents import VectorRow
from kebab.store.lance import key_file
from kebab.store.lance.vectors import LanceVectors

vectors = LanceVectors(Path(sys.argv[1]), "v", 3)
rows = [VectorRow(key, "c", "d", np.array([1, 0, 0], np.float32)) for key in range(4)]
vectors.append(rows[:3])
setattr(key_file.KeyFile, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
vectors.append(rows[3:]) if sys.argv[2] == "append_runs" else vectors.delete([0])
"""

DIE_IN_MAINTENANCE = """
import os, signal, sys
from pathlib import Path
import lancedb.table
import numpy as np
from kebab.core.documents import VectorRow
from kebab.store.lance.vectors import LanceVectors

steps = 0

def step():
    global steps
    steps += 1
    if steps == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

def optimize(table, **options):
    step()
    real(table, **options)
    step()

real = lancedb.table.LanceTable.optimize
lancedb.table.LanceTable.optimize = optimize
vectors = LanceVectors(Path(sys.argv[1]), "v", 3)
for key in range(12):
    vectors.append([VectorRow(key, "c", "d", np.array([1, 0, 0], np.float32))])
vectors.delete([3, 7])
vectors.maintain()
"""


@pytest.fixture
def current(tmp_path):
    """Return a function that tells whether readers find a current key_file."""

    def ask():
        digest = key_file.read_table_digest(key_file.get_table_path(tmp_path, "v"))
        assert digest is not None
        return KeyFile(key_file.get_key_file_path(tmp_path, "v"), 3).map_vectors(digest) is not None

    return ask


def test_the_key_file_follows_every_commit(writer, current, make_rows):
    assert current()
    writer.append(make_rows(5, 6))
    assert current()
    writer.delete([5])
    assert current()
    for key in range(10, 25):
        writer.append(make_rows(key))
    writer.maintain()
    assert current()


def test_a_key_file_never_starts_with_the_last_rows_only(writer, tmp_path, make_rows, monkeypatch):
    monkeypatch.setattr("kebab.store.lance.vectors.key_file.read_table_digest", lambda _: None)
    writer.append(make_rows(5))
    monkeypatch.undo()

    assert sorted(LanceVectors(tmp_path, "v", 3).list_keys()) == [0, 1, 2, 5]


def test_maintenance_rebuilds_an_outdated_key_file(writer, current, make_rows, tmp_path):
    key_file.get_key_file_path(tmp_path, "v").unlink()
    writer.append(make_rows(5))
    assert not current()
    assert sorted(writer.list_keys()) == [0, 1, 2, 5]
    writer.maintain()
    assert current()


def test_maintenance_rebuilds_the_key_file_of_a_compacted_table(writer, tmp_path):
    writer.delete([0, 1])
    writer.maintain()
    digest = key_file.read_table_digest(key_file.get_table_path(tmp_path, "v"))
    assert digest is not None
    rows = KeyFile(key_file.get_key_file_path(tmp_path, "v"), 3).read_rows(digest)
    assert rows is not None
    assert rows["key"].tolist() == [2]


def test_maintenance_after_a_run_without_writes_imports_nothing(writer, tmp_path):
    script = (
        "import sys; from pathlib import Path; from kebab.store.lance.vectors import LanceVectors;"
        "v = LanceVectors(Path(sys.argv[1]), 'v', 3); v.list_keys(); v.maintain();"
        "assert 'lancedb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, check=True)


def test_reading_sure_keys_notices_a_lost_file(writer, tmp_path):
    (data,) = key_file.get_table_path(tmp_path, "v").glob("data/*.lance")
    data.unlink()

    assert writer.list_keys() == sort_keys([0, 1, 2])
    with pytest.raises(StoreCorrupt):
        LanceVectors(tmp_path, "v", 3).list_keys(verify=True)


def test_a_cleared_index_leaves_no_file(writer, tmp_path):
    writer.clear()
    assert list((tmp_path / "lance").iterdir()) == []
    writer.clear()


def test_versions_do_not_see_each_other(writer, tmp_path, make_rows):
    other = LanceVectors(tmp_path, "w", 3)
    other.append(make_rows(9))
    assert (writer.list_keys(), other.list_keys()) == (sort_keys([0, 1, 2]), sort_keys([9]))


@pytest.mark.parametrize(
    ("step", "expected"), [("append_runs", [0, 1, 2, 3]), ("delete_rows", [1, 2])]
)
def test_a_writer_killed_between_table_and_file_leaves_correct_results(tmp_path, step, expected):
    killed = subprocess.run([sys.executable, "-c", DIE, tmp_path, step], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    query = np.array([1, 0, 0], np.float32)
    hits = MappedVectors(tmp_path, "v", 3).find_nearest(query, 9)
    assert [key for key, _ in hits] == expected
    assert sorted(LanceVectors(tmp_path, "v", 3).list_keys()) == expected


def test_threads_are_limited_unless_the_user_sets_a_number(tmp_path):
    script = (
        "import os; from kebab.store.lance.engine import import_lancedb; import_lancedb();"
        "print(os.environ['LANCE_CPU_THREADS'], os.environ['LANCE_IO_THREADS'])"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"LANCE_IO_THREADS": "7", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == ("2 7\n", "")


def test_the_rest_client_is_not_imported():
    script = (
        "import sys; from kebab.store.lance.engine import import_lancedb; import_lancedb();"
        "print('lance_namespace_urllib3_client.api' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"


def test_preparing_imports_the_engine_and_reports_no_error():
    script = (
        "import sys; sys.modules['pyarrow'] = None;"
        "from pathlib import Path; from kebab.store.lance.vectors import LanceVectors;"
        "LanceVectors(Path('absent'), 'v', 3).prepare()"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (run.stdout, run.stderr) == ("", "")


@pytest.mark.parametrize("pattern", ["*.lance/data/*", "*.lance/_versions/*.manifest", "*.keys"])
@pytest.mark.parametrize("damage", ["remove", "truncate", "change"])
def test_the_description_of_the_files_tells_damage(tmp_path, writer, pattern, damage):
    before = writer.describe_files()
    (path,) = (tmp_path / "lance").glob(pattern)

    if damage == "remove":
        path.unlink()
    elif damage == "truncate":
        os.truncate(path, path.stat().st_size - 1)
    else:
        path.write_bytes(path.read_bytes())

    assert writer.describe_files() != before


def test_a_vector_with_a_changed_byte_is_damaged(tmp_path, writer):
    (path,) = (tmp_path / "lance").glob("*.lance/data/*")
    raw = path.read_bytes()
    vector = writer.get([1])[1].tobytes()
    path.write_bytes(raw.replace(vector, bytes([vector[0] ^ 0x55]) + vector[1:]))

    assert LanceVectors(tmp_path, "v", 3).find_damaged_keys() == {1}


def test_without_the_key_file_a_vector_of_another_length_is_damaged(tmp_path, writer):
    (path,) = (tmp_path / "lance").glob("*.lance/data/*")
    vector = writer.get([2])[2].tobytes()
    path.write_bytes(path.read_bytes().replace(vector, bytes(len(vector))))
    next((tmp_path / "lance").glob("*.keys")).unlink()

    assert LanceVectors(tmp_path, "v", 3).find_damaged_keys() == {2}


def test_the_vectors_of_an_unknown_dimension_are_not_checked(tmp_path, writer):
    assert LanceVectors(tmp_path, "v", 0).find_damaged_keys() == set()


def test_rows_that_a_writer_adds_during_the_check_are_not_damaged(tmp_path, make_rows, monkeypatch):
    writer, reader = (LanceVectors(tmp_path, "v", 3) for _ in range(2))
    writer.append(make_rows(1))
    read_rows = KeyFile.read_rows

    def add_behind(self, digest):
        found = read_rows(self, digest)
        monkeypatch.undo()
        writer.append(make_rows(2))
        return found

    monkeypatch.setattr(KeyFile, "read_rows", add_behind)

    assert reader.find_damaged_keys() == set()
    assert writer.list_keys().tolist() == [1, 2]


def test_a_table_without_versions_is_cleared(tmp_path, writer, make_rows):
    for manifest in (tmp_path / "lance").glob("*.lance/_versions/*"):
        manifest.unlink()
    other = LanceVectors(tmp_path, "v", 3)

    other.clear()
    other.append(make_rows(4))

    assert other.list_keys(verify=True) == sort_keys([4])


def test_the_engine_is_not_loaded_without_address_space_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "read_memory_limit", lambda: 1_000)

    with pytest.raises(OutOfMemory):
        LanceVectors(tmp_path, "v", 3).prepare()
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "lancedb", raising=False)
        with pytest.raises(OutOfMemory):
            engine.import_lancedb()


@pytest.mark.parametrize("step", [1, 2])  # before the table is rewritten, and after
def test_a_writer_killed_in_maintenance_loses_nothing_and_the_next_one_finishes(
    tmp_path, monkeypatch, step
):
    script = [sys.executable, "-c", DIE_IN_MAINTENANCE, tmp_path, str(step)]
    assert subprocess.run(script, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    expected = sort_keys([0, 1, 2, 4, 5, 6, 8, 9, 10, 11])

    assert MappedVectors(tmp_path, "v", 3, keep=False).count() == 10
    vectors = LanceVectors(tmp_path, "v", 3)
    assert vectors.list_keys(verify=True) == expected
    monkeypatch.setattr(engine, "_MAX_VERSIONS", 0)
    vectors.maintain()
    assert vectors.list_keys(verify=True) == expected
    assert len([path for path in (tmp_path / "lance").rglob("*") if path.is_file()]) <= 5


def test_numpy_is_imported_before_the_thread_that_imports_lancedb(tmp_path, monkeypatch):
    steps = []

    class Started:
        def __init__(self, **_options):
            pass

        def start(self):
            steps.append("thread")

    monkeypatch.setattr(vector_search, "import_library", lambda name, *_: steps.append(name))
    monkeypatch.setattr(vector_search, "Thread", Started)

    LanceVectors(tmp_path, "v", 3).prepare()

    assert steps == ["numpy", "thread"]
