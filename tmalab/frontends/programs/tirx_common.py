"""What the TIRx programs share: compiling without a GPU, a wait with a deadline, each map that was encoded, arrays.

@T.function ─ build ─▶ host launcher (LLVM, or CUDA C++ for a compiler) + CUDA C ─▶ PTX, cubin
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path


def _cuda_home() -> Path | None:
    """A toolkit with what NVRTC needs of it here: cuda_runtime.h, and libcu++ beside it or in cccl/."""
    nvcc = shutil.which("nvcc")
    places = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), *sorted(Path("/usr/local").glob("cuda*"))]
    places += [Path(nvcc).resolve().parents[1]] if nvcc else []
    places += [Path(sysconfig.get_paths()["purelib"]) / "nvidia" / "cu13"]
    for place in (Path(place) / "include" for place in places if place):
        headers = (place, place / "cccl")
        if (place / "cuda_runtime.h").is_file() and any((one / "cuda/std/cstdint").is_file() for one in headers):
            return place.parent
    return None


HOME = _cuda_home()
if HOME:
    os.environ["CUDA_PATH"] = str(HOME)  # the package asks `which nvcc` else, and takes a wrapper's folder
# The package's CUDA runtime library needs libcudart by name alone: somebody who knows its folder must load it first.
try:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    ctypes.CDLL(load_nvidia_dynamic_lib("cudart").abs_path, mode=ctypes.RTLD_GLOBAL)
except Exception:  # of the finder, for which there is no name before it is there
    with contextlib.suppress(ImportError):
        import torch  # noqa: F401

import tvm_ffi
import tvm_tirx
from tvm_tirx.backend.cuda import export_cuda_host
from tvm_tirx.backend.cuda.compiler import compile_source
from tvm_tirx.script import tirx as T
from tvm_tirx.target import Target

ARCH = "sm_90a"
WARP = 32
LOAD = "cp.async.bulk.tensor.{}d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group"
REDUCE = "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.tile.bulk_group"

# [wait]
WAIT = r"""
__device__ __forceinline__ bool bounded_wait(void* barrier, int parity) {
  unsigned address = (unsigned)__cvta_generic_to_shared(barrier), done = 0;
  unsigned long long began, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(address), "r"(parity) : "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (!done && now - began <= 2000000ull);
  return done;
}
"""
# [/wait]


def bounded_wait(barrier: object, parity: object) -> object:
    """Wait for the phase of that parity; False in a thread whose two milliseconds have passed without it."""
    return T.cuda.func_call("bounded_wait", barrier, parity, WAIT, ty="bool")


# --- compiling: no GPU is needed --------------------------------------------------------------------------------------


def options(*, lines: bool = False) -> list[str]:
    """For NVRTC: the package's own, libcu++ where only its folder in the toolkit is missing, and line numbers."""
    cccl = HOME / "include" / "cccl" if HOME else Path()
    found = ["--use_fast_math", *([f"-I{cccl}"] if (cccl / "cuda/std/cstdint").is_file() else [])]
    return [*found, *(["-lineinfo"] if lines else [])]


def build(kernel: object, host: str = "llvm", compiler: str = "nvrtc") -> object:
    """`kernel`, compiled: the host launcher and the device code. Without a driver the device code stays source."""
    target = {
        "kind": "cuda", "arch": ARCH, "host": {"kind": host},
        "backend_config": {"cuda": {"compiler": compiler, **({"nvrtc": options()} if compiler == "nvrtc" else {})}},
    }  # fmt: skip
    with quiet():
        # The guide has it as tvm_tirx.compile; this package does not.
        return tvm_tirx.tirx.compile(kernel, target=Target(target))


def cuda_source(executable: object) -> str:
    """All of the CUDA C: types, one function an instruction, the kernel."""
    return executable.mod.imports[0].inspect_source()


def kernel_lines(source: str) -> list[str]:
    """The kernel alone."""
    return source[source.rindex('extern "C" __global__') :].rstrip().splitlines()


def ptx_of(source: str, compiler: str = "nvrtc", *, lines: bool = False, fmt: str = "ptx") -> str:
    """The PTX of generated CUDA C; with `lines`, NVRTC says beside it which line of the C it is of.

    With `fmt` "cubin" ptxas is asked too, and the text is empty.
    """
    config = {"compiler": compiler, "target_format": fmt}
    config |= {"nvrtc": options(lines=lines)} if compiler == "nvrtc" else {}
    with quiet():
        binary = compile_source(source, {"cuda": config}, target={"kind": "cuda", "arch": ARCH}).binary
    return bytes(binary).decode().rstrip("\0") if fmt == "ptx" else ""


def told(executable: object, compiler: str = "nvrtc") -> list[str]:
    """The lines of an executable's PTX that have to do with a copy or a barrier."""
    words = ("cp.async.bulk", "cp.reduce.async.bulk", "mbarrier", "fence.", "barrier.cluster")
    lines = (line.strip() for line in ptx_of(cuda_source(executable), compiler).splitlines())
    return [line for line in lines if any(word in line for word in words) and not line.startswith(("//", "{ .reg"))]


def launcher(executable: object) -> object:
    """What runs it: the executable, or the library that a C++ compiler makes of a CUDA C++ launcher."""
    if executable.mod.kind != "c":
        return executable
    # `executable(…)` hands the .cu file to g++, which takes it for a linker's script: so by its own export, as C++.
    folder = Path(tempfile.mkdtemp(prefix="tmalab-tirx-"))
    (folder / "host.cc").write_text(export_cuda_host(executable.mod))
    tirx, ffi = (Path(module.__file__).parent for module in (tvm_tirx, tvm_ffi))
    includes = [f"-I{one / 'include'}" for one in (tirx, ffi, HOME)]
    command = [shutil.which("g++") or "c++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", *includes, "host.cc"]
    command += ["-o", "host.so", f"-L{ffi / 'lib'}", "-ltvm_ffi"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    return tvm_ffi.load_module(str(folder / "host.so")).main


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop what C++ writes to stderr: some thirty lines on targets of LLVM that nobody asked for."""
    sys.stderr.flush()
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


# --- what a launcher hands to the driver ------------------------------------------------------------------------------

# [watch]
ENCODE = "runtime.cuTensorMapEncodeTiled"  # the packed function that a launcher of LLVM calls
_encoded: list[dict] = []
_watching: list[object] = []


def encoded() -> list[dict]:
    """A list that grows with each map encoded from now on: what the launcher gave, and the 128 bytes it got."""
    if not _watching:  # a launcher looks the function up at its first call, and never again
        real = tvm_ffi.get_global_func(ENCODE)

        def noted(tensor_map: object, *given: object) -> None:
            real(tensor_map, *given)
            _encoded.append({"given": [plain(one) for one in given], "bytes": read(tensor_map)})

        _watching.append(tvm_ffi.register_global_func(ENCODE, noted, override=True))
    _encoded.clear()
    return _encoded


# [/watch]


def plain(value: object) -> object:
    """A packed function's operand as JSON: an address is the word `address`."""
    return value if isinstance(value, int | float) else str(value) if isinstance(value, str) else "address"


def read(pointer: object) -> bytes:
    """128 bytes at a pointer that a packed function was given."""
    return ctypes.string_at(getattr(pointer, "value", pointer), 128)


# --- running: CuPy owns the memory ------------------------------------------------------------------------------------


def given(array: object) -> object:
    """A CuPy array as a launcher takes it."""
    return tvm_ffi.from_dlpack(array)


def installed() -> dict[str, str]:
    """The versions of what the package consists of."""
    from importlib.metadata import version

    return {name: version(name) for name in ("apache-tvm-tirx", "apache-tvm-ffi", "apache-tvm-ffi-orcjit")}


def rows_of(maps: list[dict]) -> object:
    """The bytes of some encoded maps, one under the other."""
    import numpy as np

    return np.frombuffer(b"".join(one["bytes"] for one in maps), np.uint8).reshape(-1, 128).copy()


def said(error: BaseException) -> dict[str, str]:
    """What an error says: its kind, and its own lines without the call that it repeats and a compiler's warnings."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0].startswith("Tensor instruction lowering failed"):
        lines = [line for line in lines[1:] if not line.startswith("call:")]
    if any("compilation failed" in line for line in lines):
        lines = [line for line in lines if "error" in line or line.startswith("ptxas")]
    return {"type": type(error).__name__, "message": without_addresses("\n".join(lines[:3]))}


def without_addresses(text: str) -> str:
    """A message without what differs from run to run: addresses, folders."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", re.sub(r"/[\w./-]+/(\w+\.\w+)", r"\1", text))
