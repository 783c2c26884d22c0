"""Lists the published bases that a knowledge base searches, in a file of its data folder."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from kebab.core.documents import PUBLISHED_BASES
from kebab.core.durable import create_folder, hold_lock, replace_file
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.wire.published import Registry


def load_registry(data_dir: Path) -> Registry:
    """Return the list of published bases of a data folder; it is empty without its file.

    Raises:
        StoreCorrupt: The file is damaged.
    """
    path = data_dir / PUBLISHED_BASES
    try:
        return msgspec.json.decode(path.read_bytes(), type=Registry)
    except (FileNotFoundError, NotADirectoryError):
        return Registry()
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise StoreCorrupt(path=str(path), cause="it cannot be read") from fault


def change_registry(data_dir: Path, change: Callable[[Registry], Registry]) -> None:
    """Replace the list of published bases of a data folder, one process at a time.

    Raises what `load_registry` and `change` raise.
    """
    path = data_dir / PUBLISHED_BASES
    with translate_os_errors(path, "write"):
        create_folder(data_dir, 0o700)
        with hold_lock(path.with_suffix(".lock")):
            registry = change(load_registry(data_dir))
            with replace_file(path) as draft:
                draft.write(msgspec.json.format(msgspec.json.encode(registry), indent=1))
