import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kebab.core.ids import sort_keys
from kebab.errors import system
from kebab.errors.catalog import OutOfMemory, StoreCorrupt
from kebab.store.lance import engine, vector_file
from kebab.store.lance.vector_file import VectorFile
from kebab.store.lance.vectors import LanceVectors, MappedVectors

ROOT = Path(__file__).parents[4]
DIE = """
import os, signal, sys
from pathlib import Path
import numpy as np
from kebab.core.documents import VectorRow
from kebab.store.lance import vector_file
from kebab.store.lance.vectors import LanceVectors

vectors = LanceVectors(Path(sys.argv[1]), "v", 3)
rows = [VectorRow(key, "c", "d", np.array([1, 0, 0], np.float32)) for key in range(4)]
vectors.append(rows[:3])
setattr(vector_file.VectorFile, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
vectors.append(rows[3:]) if sys.argv[2] == "append_rows" else vectors.delete([0])
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
def writer(tmp_path, make_rows):
    made = LanceVectors(tmp_path, "v", 3)
    made.append(make_rows(0, 1, 2))
    return made


@pytest.fixture
def current(tmp_path):
    """Return a function that tells whether readers find a current vector_file."""

    def ask():
        digest = vector_file.read_table_digest(vector_file.get_table_path(tmp_path, "v"))
        assert digest is not None
        return (
            VectorFile(vector_file.get_vector_file_path(tmp_path, "v"), 3).map_vectors(digest)
            is not None
        )

    return ask


def test_the_vector_file_follows_every_commit(writer, current, make_rows):
    assert current()
    writer.append(make_rows(5, 6))
    assert current()
    writer.delete([5])
    assert current()
    for key in range(10, 25):
        writer.append(make_rows(key))
    writer.maintain()
    assert current()


def test_a_vector_file_never_starts_with_the_last_rows_only(
    writer, tmp_path, make_rows, monkeypatch
):
    monkeypatch.setattr("kebab.store.lance.vectors.vector_file.read_table_digest", lambda _: None)
    writer.append(make_rows(5))
    monkeypatch.undo()

    assert sorted(LanceVectors(tmp_path, "v", 3).list_keys()) == [0, 1, 2, 5]


def test_maintenance_rebuilds_an_outdated_vector_file(writer, current, make_rows, tmp_path):
    vector_file.get_vector_file_path(tmp_path, "v").unlink()
    writer.append(make_rows(5))
    assert not current()
    assert sorted(writer.list_keys()) == [0, 1, 2, 5]
    writer.maintain()
    assert current()


def test_maintenance_rebuilds_a_vector_file_with_many_tombstones(writer, tmp_path):
    writer.delete([0, 1])
    writer.maintain()
    raw = vector_file.get_vector_file_path(tmp_path, "v").read_bytes()
    header = vector_file.Header.unpack(raw[: vector_file.HEADER_BYTES])
    assert header is not None
    assert header.rows == 1


def test_maintenance_after_a_run_without_writes_imports_nothing(writer, tmp_path):
    script = (
        "import sys; from pathlib import Path; from kebab.store.lance.vectors import LanceVectors;"
        "v = LanceVectors(Path(sys.argv[1]), 'v', 3); v.list_keys(); v.maintain();"
        "assert 'lancedb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, check=True)


def test_reading_sure_keys_notices_a_lost_file(writer, tmp_path):
    (data,) = vector_file.get_table_path(tmp_path, "v").glob("data/*.lance")
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
    ("step", "expected"), [("append_rows", [0, 1, 2, 3]), ("delete_rows", [1, 2])]
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
        "import os; from kebab.store.lance.engine import _import_lancedb; _import_lancedb();"
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
        "import sys; from kebab.store.lance.engine import _import_lancedb; _import_lancedb();"
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


@pytest.mark.parametrize("pattern", ["*.lance/data/*", "*.lance/_versions/*.manifest", "*.f32"])
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


@pytest.mark.parametrize("pattern", ["*.lance/data/*", "*.f32"])
def test_a_vector_with_a_changed_byte_is_damaged(tmp_path, writer, pattern):
    (path,) = (tmp_path / "lance").glob(pattern)
    raw = path.read_bytes()
    vector = writer.get([1])[1].tobytes()
    path.write_bytes(raw.replace(vector, bytes([vector[0] ^ 0x55]) + vector[1:]))

    assert LanceVectors(tmp_path, "v", 3).find_damaged_keys() == {1}


def test_without_the_vector_file_a_vector_of_another_length_is_damaged(tmp_path, writer):
    (path,) = (tmp_path / "lance").glob("*.lance/data/*")
    vector = writer.get([2])[2].tobytes()
    path.write_bytes(path.read_bytes().replace(vector, bytes(len(vector))))
    next((tmp_path / "lance").glob("*.f32")).unlink()

    assert LanceVectors(tmp_path, "v", 3).find_damaged_keys() == {2}


def test_the_vectors_of_an_unknown_dimension_are_not_checked(tmp_path, writer):
    assert LanceVectors(tmp_path, "v", 0).find_damaged_keys() == set()


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
            engine._import_lancedb()


@pytest.mark.parametrize("step", [1, 2, 3, 4])
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
