"""The store: a folder with one JSON manifest and one `.npz` a group, every byte of both under a SHA-256.

    manifest.json            {"sha256": of all bytes after this value, "schema": 1, "files": …, "cases": {key: …}}
    tile.4f1c09ab.npz        smem.uint8.3072  [324, 3072]      one row a case: like arrays are stacked
                             undefined.smem…  masks, in the same form

>>> Store().folder.name
'data'

A group's file carries the start of its hash in its name, so that renaming the manifest is the one step that turns
old recordings into new ones: a reader never meets the manifest of one and the bytes of the other.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tmalab.errors import RecordingError
from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation, Provenance
from tmalab.recordings.files import REMEDY, pack_arrays, read_verified, remove_files, unpack_arrays, write_atomically

if TYPE_CHECKING:
    import numpy as np

SCHEMA = 1
DATA = Path(__file__).parent / "data"
MANIFEST = "manifest.json"
_HEAD = re.compile(rb'\{"sha256": "([0-9a-f]{64})"')  # the manifest's first bytes; its hash covers all that follow


class Store:
    """The recordings in one folder (default: those that came with the package), read when they are asked for."""

    def __init__(self, folder: Path = DATA):
        self.folder = Path(folder)
        self._stamp: object = None
        self._manifest: dict[str, Any] = {}
        self._groups: dict[str, Mapping[str, np.ndarray]] = {}

    # --- reading ------------------------------------------------------------------------------------------------------

    def manifest(self) -> dict[str, Any]:
        """The manifest, verified; empty where nothing was recorded. Raises RecordingError where it is damaged."""
        path = self.folder / MANIFEST
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return {"schema": SCHEMA, "files": {}, "provenance": [], "cases": {}}
        except OSError as error:
            raise _damaged(path, error.strerror or str(error)) from error
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:  # `make record` in another terminal shows in a running notebook
            self._manifest, self._groups, self._stamp = _read_manifest(path), {}, stamp
        return self._manifest

    def __contains__(self, case: Case) -> bool:
        return case.key in self.manifest()["cases"]

    def cases(self) -> dict[str, Case]:
        """All recorded cases by name."""
        entries = self.manifest()["cases"].values()
        return {entry["name"]: Case(entry["name"], entry["probe"], entry["params"]) for entry in entries}

    def provenances(self) -> list[Provenance]:
        """Where each recorded case comes from, one a case."""
        return [self._provenance(entry) for entry in self.manifest()["cases"].values()]

    def get(self, case: Case) -> Observation | None:
        """The recording of `case`, whatever its name, or None. Raises RecordingError where it is damaged."""
        entry = self.manifest()["cases"].get(case.key)
        if entry is None:
            return None
        try:
            rows = self._group(entry["group"])
            return Observation(
                case,
                arrays={name: rows[stack][row] for name, (stack, row) in entry["arrays"].items()},
                values=entry["values"],
                provenance=self._provenance(entry),
                source="recorded",
                undefined={name: rows[stack][row] for name, (stack, row) in entry["undefined"].items()},
            )
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise RecordingError(
                f"the recording of {entry.get('name')!r} is not whole: {error}", field="file",
                value=str(self.folder / MANIFEST), fix=REMEDY,
            ) from error  # fmt: skip

    def _group(self, name: str) -> Mapping[str, np.ndarray]:
        if name not in self._groups:
            listed = self._manifest["files"][name]
            path = self.folder / listed["file"]
            self._groups[name] = unpack_arrays(read_verified(path, listed["sha256"], listed["bytes"]), str(path))
        return self._groups[name]

    def _provenance(self, entry: Mapping[str, Any]) -> Provenance:
        return Provenance(**self._manifest["provenance"][entry["provenance"]], **entry["measured"])

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, groups: Mapping[str, Sequence[Observation]]) -> None:
        """Replace the recordings of `groups` (name to observations); other groups stay as they are.

        Either all of it is there afterwards or nothing changed. Raises RecordingError.
        """
        old = self.manifest()
        files = {name: listed for name, listed in old["files"].items() if name not in groups}
        cases = {key: dict(entry) for key, entry in old["cases"].items() if entry["group"] not in groups}
        provenance = list(old["provenance"])
        for group, observations in groups.items():
            stacks = _Stacks()
            for seen in observations:
                if seen.case.key in cases:
                    raise RecordingError("recorded twice", field="case", value=seen.case.name, fix="name it once")
                cases[seen.case.key] = _entry(seen, group, stacks, provenance)
            content = pack_arrays(stacks.arrays())
            sha256 = hashlib.sha256(content).hexdigest()
            files[group] = {"file": f"{group}.{sha256[:8]}.npz", "sha256": sha256, "bytes": len(content)}
            write_atomically(self.folder / files[group]["file"], content)
        manifest = {"schema": SCHEMA, "files": files, "provenance": provenance, "cases": cases}
        _drop_unused_provenance(manifest)
        write_atomically(self.folder / MANIFEST, _manifest_bytes(manifest))
        self._stamp = None
        kept = {listed["file"] for listed in files.values()}
        remove_files(path for path in self.folder.glob("*.npz") if path.name not in kept)

    def clear(self) -> None:
        """Remove the recordings, and the folder if nothing else is in it. Another's files stay."""
        if not self.folder.is_dir():
            return
        remove_files([self.folder / MANIFEST, *self.folder.glob("*.npz")])
        self._stamp = None
        with contextlib.suppress(OSError):  # not empty
            self.folder.rmdir()


@lru_cache(maxsize=1)
def default_store() -> Store:
    """The recordings that came with the package, read once."""
    return Store()


# --- the manifest's form ----------------------------------------------------------------------------------------------


class _Stacks:
    """Arrays of one name, type and shape under each other: 324 tiles are one member and not 324."""

    def __init__(self) -> None:
        self._rows: dict[str, list[np.ndarray]] = {}

    def add(self, name: str, array: np.ndarray) -> tuple[str, int]:
        stack = ".".join([name, str(array.dtype), "x".join(map(str, array.shape)) or "scalar"])
        rows = self._rows.setdefault(stack, [])
        rows.append(array)
        return stack, len(rows) - 1

    def arrays(self) -> dict[str, np.ndarray]:
        import numpy as np

        return {stack: np.stack(rows) for stack, rows in self._rows.items()}


def _entry(seen: Observation, group: str, stacks: _Stacks, provenance: list[dict[str, Any]]) -> dict[str, Any]:
    """A case's line in the manifest; what many cases share of their provenance is listed once."""
    import numpy as np

    for name, mask in seen.undefined.items():
        if name not in seen.arrays or np.shape(mask) != np.shape(seen.arrays[name]) or np.asarray(mask).dtype != bool:
            raise RecordingError(
                f"the mask of {name!r} does not fit its array", field="case", value=seen.case.name,
                fix="give a bool mask of the array's shape",
            )  # fmt: skip
    shared = seen.provenance.to_dict()
    measured = {name: shared.pop(name) for name in ("date", "repeats")}
    if shared not in provenance:
        provenance.append(shared)
    return {
        "name": seen.case.name, "probe": seen.case.probe, "params": dict(seen.case.params), "group": group,
        "arrays": {name: stacks.add(name, np.asarray(array)) for name, array in seen.arrays.items()},
        "undefined": {name: stacks.add(f"undefined.{name}", np.asarray(mask)) for name, mask in seen.undefined.items()},
        "values": dict(seen.values), "provenance": provenance.index(shared), "measured": measured,
    }  # fmt: skip


def _drop_unused_provenance(manifest: dict[str, Any]) -> None:
    used = sorted({entry["provenance"] for entry in manifest["cases"].values()})
    manifest["provenance"] = [manifest["provenance"][index] for index in used]
    for entry in manifest["cases"].values():
        entry["provenance"] = used.index(entry["provenance"])


def _manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """One case a line, so that a difference between two recordings can be read; the hash of all that in front."""
    lines = [f",\n{json.dumps(name)}: {_line(manifest[name])}" for name in ("schema", "files", "provenance")]
    cases = ",\n".join(f"{json.dumps(key)}: {_line(entry)}" for key, entry in manifest["cases"].items())
    tail = "".join([*lines, f',\n"cases": {{\n{cases}\n}}}}\n']).encode()
    return b'{"sha256": "%s"' % hashlib.sha256(tail).hexdigest().encode() + tail


def _line(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False, default=lambda number: number.item())
    except (TypeError, ValueError, AttributeError) as error:
        raise RecordingError(
            f"not JSON: {error}", field="values", value=value, fix="put arrays in arrays, numbers and words in values"
        ) from None


def _damaged(path: Path, what: str) -> RecordingError:
    return RecordingError(f"the manifest is damaged: {what}", field="file", value=str(path), fix=REMEDY)


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        manifest = json.loads(content)
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    except ValueError as error:  # of JSON or of UTF-8
        raise _damaged(path, str(error)) from None
    if not isinstance(manifest, dict):
        raise _damaged(path, "not a JSON object")
    if manifest.get("schema") != SCHEMA:  # first: another version may hash in another way
        raise RecordingError(
            f"the recordings have schema version {manifest.get('schema')!r}; this tmalab reads {SCHEMA}", field="file",
            value=str(path), limit=SCHEMA, fix="install the tmalab that wrote them, or record again with `make record`",
        )  # fmt: skip
    head = _HEAD.match(content)
    if head is None or hashlib.sha256(content[head.end() :]).hexdigest().encode() != head[1]:
        raise _damaged(path, "its SHA-256 is not the one in its first line")
    return manifest
