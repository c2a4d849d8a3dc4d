"""cuBLAS beside the ladder: `cublasLtMatmul` through ctypes, the best of 8 heuristics with 32 MiB of workspace.

    C (m x n) = A (m x k) * B (n x k) transposed, all row-major    is, as cuBLAS counts in columns,
    C transposed (n x m) = B (k x n) transposed * A (k x m)        the layout that it likes best ("TN")

>>> [ctypes.sizeof(Heuristic), Heuristic.workspace.offset]
[96, 64]
"""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tmalab.errors import HardwareError
from tmalab.experiment.gemm_plan import GemmPlan

WORKSPACE_BYTES = 32 << 20
HEURISTICS = 8
# Enumerators of library_types.h, cublas_api.h and cublasLt.h
_R_16BF, _R_32F, _COMPUTE_32F = 14, 0, 68
_DESC_TRANSA, _PREFERENCE_WORKSPACE = 3, 1
_OP_T = 1


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t: an algorithm, and what it needs."""

    _fields_ = (
        ("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
        ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4),
    )  # fmt: skip


def find_library() -> ctypes.CDLL:
    """cublasLt, from NVIDIA's wheels or the system. Raises HardwareError where there is none."""
    spec = find_spec("nvidia")
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = sorted(path for place in places for path in place.glob("*/lib/libcublasLt.so.*"))
    for name in [*map(str, reversed(found)), "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise HardwareError("cuBLAS cannot be loaded", fix="pip install nvidia-cublas")


class Cublas:
    """One library handle and its workspace in the current context."""

    def __init__(self, workspace: int):
        self._library, self._workspace = find_library(), workspace
        self._library.cublasLtGetVersion.restype = ctypes.c_size_t
        self._handle = ctypes.c_void_p()
        self._call("cublasLtCreate", ctypes.byref(self._handle))

    @property
    def version(self) -> str:
        """As NVIDIA writes it: 13.1.0."""
        number = int(self._library.cublasLtGetVersion())
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise HardwareError(f"{name} answered {status}", fix="check that the cuBLAS installed fits the driver")

    def product(self, plan: GemmPlan) -> Product:
        """The product of that plan, and the algorithms that cuBLAS would choose for it, the first one first."""
        return Product(self, plan)


class Product:
    """One matrix product as cuBLAS knows it."""

    def __init__(self, cublas: Cublas, plan: GemmPlan):
        self._cublas, call = cublas, cublas._call
        self._desc = ctypes.c_void_p()
        call("cublasLtMatmulDescCreate", ctypes.byref(self._desc), _COMPUTE_32F, _R_32F)
        transposed = ctypes.c_int32(_OP_T)
        call("cublasLtMatmulDescSetAttribute", self._desc, _DESC_TRANSA, ctypes.byref(transposed), ctypes.c_size_t(4))
        self._layouts = []
        for rows, columns, pitch in (
            (plan.k, plan.n, plan.ldb),
            (plan.k, plan.m, plan.lda),
            (plan.n, plan.m, plan.ldc),
        ):
            layout = ctypes.c_void_p()
            sizes = ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(pitch)
            call("cublasLtMatrixLayoutCreate", ctypes.byref(layout), _R_16BF, *sizes)
            self._layouts.append(layout)
        preference = ctypes.c_void_p()
        call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        size = ctypes.c_uint64(WORKSPACE_BYTES)
        call(
            "cublasLtMatmulPreferenceSetAttribute", preference, _PREFERENCE_WORKSPACE, ctypes.byref(size),
            ctypes.c_size_t(8),
        )  # fmt: skip
        found, count = (Heuristic * HEURISTICS)(), ctypes.c_int()
        b, a, c = self._layouts
        call(
            "cublasLtMatmulAlgoGetHeuristic", cublas._handle, self._desc, b, a, c, c, preference, HEURISTICS, found,
            ctypes.byref(count),
        )  # fmt: skip
        call("cublasLtMatmulPreferenceDestroy", preference)
        self.heuristics = [found[at] for at in range(count.value) if found[at].state == 0]
        if not self.heuristics:
            raise HardwareError("cuBLAS knows no algorithm for this product", value=(plan.m, plan.n, plan.k))

    def enqueue(self, chosen: Heuristic, a: int, b: int, c: int, stream: int) -> None:
        """One product of the matrices at these addresses, by that algorithm. Raises HardwareError."""
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        layout_b, layout_a, layout_c = self._layouts
        self._cublas._call(
            "cublasLtMatmul", self._cublas._handle, self._desc, ctypes.byref(one), ctypes.c_void_p(b), layout_b,
            ctypes.c_void_p(a), layout_a, ctypes.byref(zero), ctypes.c_void_p(c), layout_c, ctypes.c_void_p(c),
            layout_c, ctypes.byref(chosen.algo), ctypes.c_void_p(self._cublas._workspace),
            ctypes.c_size_t(WORKSPACE_BYTES), ctypes.c_void_p(stream),
        )  # fmt: skip

    def close(self) -> None:
        """Give the descriptors back."""
        for layout in self._layouts:
            self._cublas._call("cublasLtMatrixLayoutDestroy", layout)
        self._cublas._call("cublasLtMatmulDescDestroy", self._desc)
