"""Kernels of this package, compiled by NVRTC for sm_90a and kept: `compile_kernel`, and the hash that recordings carry.

    cubin = cache[ sha256(source + headers + options + NVRTC's version) ]      no GPU is needed

>>> len(kernel_sha256("transfer"))
64
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tmalab.errors import HardwareError, InputError
from tmalab.hardware.kernel_file import without_events

KERNELS = Path(__file__).parent / "kernels"
GALLERY = Path(__file__).parent / "gallery"  # kernels that are broken on purpose, known as gallery/NAME
GEMM = Path(__file__).parent / "gemm"  # the ladder of matrix products, known as gemm/NN_NAME
# sm_90a, not sm_90: wgmma and setmaxnreg need it, and every kernel is to run on the same target.
OPTIONS = ("--gpu-architecture=sm_90a", "--std=c++17")
_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.MULTILINE)
_DIGEST_BYTES = 32


def kernel_names() -> list[str]:
    """The kernels that this package ships, one .cu file each."""
    return sorted(path.stem for path in KERNELS.glob("*.cu"))


def gallery_names() -> list[str]:
    """The gallery's kernels, as `kernel_sources` takes them: gallery/NAME."""
    return sorted(f"{GALLERY.name}/{path.stem}" for path in GALLERY.glob("*.cu"))


def gemm_names() -> list[str]:
    """The ladder's kernels, in the order of their rungs: gemm/NN_NAME. The entry point of each is `gemm`."""
    return sorted(f"{GEMM.name}/{path.stem}" for path in GEMM.glob("*.cu"))


@lru_cache(maxsize=128)
def kernel_sources(name: str) -> dict[str, str]:
    """`name`.cu and every header that it includes, however deep: file name → text. Raises InputError."""
    if name in kernel_names():
        text = (KERNELS / f"{name}.cu").read_text(encoding="utf-8")
    elif name in gallery_names() or name in gemm_names():
        text = (GALLERY.parent / f"{name}.cu").read_text(encoding="utf-8")
    else:
        raise InputError("no such kernel", field="kernel", value=name, fix=f"use one of {', '.join(kernel_names())}")
    return {f"{name}.cu": text, **headers_of(text)}


def headers_of(text: str) -> dict[str, str]:
    """The headers of this package that a source includes, however deep: file name → text."""
    headers: dict[str, str] = {}
    pending = _INCLUDE.findall(text)
    while pending:
        file = pending.pop()
        if file not in headers and (KERNELS / file).is_file():
            headers[file] = (KERNELS / file).read_text(encoding="utf-8")
            pending += _INCLUDE.findall(headers[file])
    return headers


@lru_cache(maxsize=128)
def kernel_sha256(name: str) -> str:
    """SHA-256 of a kernel's source and headers, as a recording's provenance gives it: the compiler is not in it.

    Nor are the lines of a gallery's kernel that only the model reads: a new event changes no run.
    """
    return _hash(sorted((file, without_events(text)) for file, text in kernel_sources(name).items()))


def _hash(parts: Sequence[Sequence[str]]) -> str:
    digest = hashlib.sha256()
    for text in (text for part in parts for text in part):
        digest.update(f"{len(text)}:".encode() + text.encode())  # the length keeps "ab", "c" apart from "a", "bc"
    return digest.hexdigest()


def nvrtc_version() -> str:
    """NVRTC's version, `13.0`. Raises HardwareError where it cannot be loaded."""
    _, major, minor = _nvrtc().nvrtcVersion()
    return f"{major}.{minor}"


def cache_folder() -> Path:
    """Where cubins are kept: `TMALAB_CACHE`, else `tmalab` in the platform's cache folder."""
    if chosen := os.environ.get("TMALAB_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "tmalab" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tmalab"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tmalab"


def remember(kind: str, key: Sequence[str], content: bytes) -> None:
    """Keep `content` in the cache, to be had again by `remembered`. Raises HardwareError if it cannot be written."""
    _write(cache_folder() / kind, f"{_hash([key])}.kept", content)


def remembered(kind: str, key: Sequence[str]) -> bytes | None:
    """What `remember` kept under that kind and key, whole, or None."""
    return _read(cache_folder() / kind / f"{_hash([key])}.kept")


def compile_kernel(name: str, options: Sequence[str] = ()) -> bytes:
    """The cubin of a kernel, from the cache where source, headers, options and NVRTC are the same.

    Raises InputError for an unknown kernel, HardwareError where NVRTC is missing or finds an error in the source, or
    where the cache folder cannot be written.
    """
    sources = kernel_sources(name)
    chosen = [*OPTIONS, *options]
    key = [kernel_sha256(name), *chosen, nvrtc_version()]
    kept = remembered("cubin", key)
    if kept is None:
        kept = compile_source(sources[f"{name}.cu"], sources, name, chosen)[0]
        remember("cubin", key, kept)
    return kept


def compile_source(text: str, headers: dict[str, str], name: str, options: Sequence[str]) -> tuple[bytes, str]:
    """Cubin and compiler's log of a source text. Raises HardwareError with the first line that reports an error."""
    nvrtc = _nvrtc()
    included = {file: header for file, header in headers.items() if file.endswith(".cuh")}
    _, program = nvrtc.nvrtcCreateProgram(
        text.encode(), f"{name}.cu".encode(), len(included),
        [header.encode() for header in included.values()], [file.encode() for file in included],
    )  # fmt: skip
    try:
        (result,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).rstrip(b"\0\n").decode()
        if int(result) != 0:
            lines = log.splitlines()
            first = next((line for line in lines if "error" in line), lines[0] if lines else str(result))
            raise HardwareError(
                f"NVRTC {nvrtc_version()} refuses the source: {first.strip()}", field="kernel", value=name,
                fix="correct that line; `compile_source` gives the whole log",
            )  # fmt: skip
        return _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program), log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(size_of: Any, fill: Any, program: Any) -> bytes:
    _, size = size_of(program)
    buffer = bytearray(size)
    fill(program, buffer)
    return bytes(buffer)


def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:  # the package, or the library behind it: its own words say which
        raise HardwareError(f"NVRTC cannot be loaded: {error}", fix="pip install 'tmalab[gpu]'") from None
    return nvrtc


# --- the cache: a file is its content's SHA-256 and the content, so that a torn one is compiled again ----------------


def _read(path: Path) -> bytes | None:
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    digest, content = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def _write(folder: Path, file: str, content: bytes) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
            part.write(hashlib.sha256(content).digest() + content)
        Path(part.name).replace(folder / file)  # atomic: two processes may compile the same kernel
    except OSError as error:
        raise HardwareError(
            f"the compile cache cannot be written ({error.strerror or error})",
            field="TMALAB_CACHE" if os.environ.get("TMALAB_CACHE") else "cache folder", value=str(folder.parent),
            fix="set TMALAB_CACHE to a folder that you can write",
        ) from None  # fmt: skip
