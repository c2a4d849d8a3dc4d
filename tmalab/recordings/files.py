"""Bytes on disk that can be trusted: written whole or not at all, the same for the same content, read with their hash.

    write_atomically   temporary file beside it, fsync, rename
    pack_arrays        .npz with sorted members, fixed times, no pickle: one content, one SHA-256
    read_verified      the bytes, if size and SHA-256 are the manifest's; else a RecordingError naming the file

>>> import numpy as np
>>> sorted(unpack_arrays(pack_arrays({"b": np.zeros(3), "a": np.ones(2)}), "demo.npz"))
['a', 'b']
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tmalab.errors import RecordingError

if TYPE_CHECKING:
    import numpy as np

REMEDY = "restore the file from version control, or rewrite the recordings on a Hopper GPU with `make record`"
# The oldest time that a zip file can hold: a date in the bytes would give the same arrays another hash every day.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns what the file system says into a RecordingError that names `path`."""
    try:
        yield
    except OSError as error:
        raise RecordingError(
            f"cannot write: {error.strerror or error}", field="file", value=str(path),
            fix="give a folder that can be written, with --out",
        ) from error  # fmt: skip


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`: whoever reads sees the old bytes or the new ones. Raises RecordingError."""
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)  # mkstemp's 0600 would leave a recording that only its maker can read
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def make_folder(folder: Path) -> None:
    """Make `folder` and see that files can be written into it, before hours of work need it. Raises RecordingError."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def remove_files(paths: Iterable[Path]) -> None:
    """Remove those of `paths` that are there. Raises RecordingError."""
    for path in paths:
        with _writing(path):
            path.unlink(missing_ok=True)


def read_verified(path: Path, sha256: str, size: int) -> bytes:
    """All bytes of `path`. Raises RecordingError where it is missing, cut short or changed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordingError(
            f"cannot read the recording: {error.strerror or error}", field="file", value=str(path), fix=REMEDY
        ) from error
    if len(content) != size:
        raise RecordingError(
            f"the recording is damaged: {len(content)} bytes where the manifest says {size}", field="file",
            value=str(path), limit=size, fix=REMEDY,
        )  # fmt: skip
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RecordingError(
            "the recording is damaged: its SHA-256 is not the manifest's", field="file", value=str(path), limit=sha256,
            fix=REMEDY,
        )  # fmt: skip
    return content


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """An `.npz` file of `arrays`; equal arrays give equal bytes. Raises RecordingError for an array of objects."""
    import numpy as np

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in sorted(arrays):
            member = io.BytesIO()
            try:
                np.lib.format.write_array(member, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            except ValueError as error:
                raise RecordingError(
                    f"cannot be stored without pickle: {error}", field="array", value=name, fix="record plain numbers"
                ) from None
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every platform
            archive.writestr(info, member.getvalue(), compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)
    return packed.getvalue()


def unpack_arrays(content: bytes, name: str) -> Mapping[str, np.ndarray]:
    """The arrays of an `.npz` file, each read when asked for, none writable. `name` is for the error's message."""
    return _Arrays(content, name)


class _Arrays(Mapping[str, "np.ndarray"]):
    """A mapping from name to array that reads a member once and turns numpy's errors into ours."""

    def __init__(self, content: bytes, name: str):
        self._name, self._read = name, {}  # type: str, dict[str, np.ndarray]
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            self._members = {entry.removesuffix(".npy") for entry in self._archive.namelist()}
        except zipfile.BadZipFile as error:
            raise self._damaged(str(error)) from None

    def __getitem__(self, name: str) -> np.ndarray:
        import numpy as np

        if name not in self._read:
            if name not in self._members:
                raise KeyError(name)
            try:
                with self._archive.open(f"{name}.npy") as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
            except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:  # a pickle is a ValueError
                raise self._damaged(f"{name}: {error}") from None
            array.setflags(write=False)  # a recording is what was seen; who wants to change it takes a copy
            self._read[name] = array
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def _damaged(self, what: str) -> RecordingError:
        return RecordingError(f"the recording cannot be read: {what}", field="file", value=self._name, fix=REMEDY)
