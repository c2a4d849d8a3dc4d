"""A matrix product on a rung of the ladder, planned: tensor maps, grid and shared memory, or what is wrong with it.

    C[m][n] = sum over k of A[m][k] * B[n][k]     A, B, C row-major bfloat16, rows of lda, ldb, ldc elements

    gemm_plan("store", 8192, 8192, 8192) ─▶ map_a, map_b, map_c · blocks · threads · shared_bytes
    gemm_plan("store", 8192, 8192, 4095) ─▶ InputError: rows of 4095 elements are 8190 bytes; TMA takes multiples of 16

>>> gemm_plan("store", 8192, 8192, 8192).blocks
132
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tmalab.errors import InputError, TensorMapError
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import integer

DTYPE, ELEMENT_BYTES = "bfloat16", 2
STRIDE_BYTES = 16  # what a tensor map counts the distance of two rows in
MOST = 2**31 - 1024  # a coordinate is an int32, and a tile may reach past the end
MOST_TILES = 2**31 - 1
MOST_PITCH = 2**32 - 8  # elements; the kernels are told it in 32 bits
SMS = 132  # multiprocessors of an H200


@dataclass(frozen=True)
class Rung:
    """One kernel of the ladder: tmalab/hardware/gemm/`file`.cu and the constants that its first lines say.

    `tile` is BM, BN, BK; the boxes are (columns, rows) of one TMA copy, None where the kernel has none; `out_bytes`
    stage the way out; `options` are the compiler's; `group` is how many rows of tiles (or of a cluster's) are walked
    together, 0: one after another.
    """

    name: str
    file: str
    idea: str
    tile: tuple[int, int, int]
    threads: int
    stages: int = 1
    box_a: tuple[int, int] | None = None
    box_b: tuple[int, int] | None = None
    box_c: tuple[int, int] | None = None
    swizzle: str = "128B"
    swizzle_c: str = "128B"
    barriers: int = 0
    out_bytes: int = 0
    cluster: int = 1
    persistent: bool = False
    group: int = 0
    l2_promotion: str = "none"
    options: tuple[str, ...] = ()
    workspace_bytes: int = 0

    @property
    def shared_bytes(self) -> int:
        """Of a block: the stages, what stages the way out, and the barriers; a multiple of 1024."""
        rows, columns, depth = self.tile
        tiles = self.stages * (rows + columns) * depth * ELEMENT_BYTES + self.out_bytes
        return -(-(tiles + 8 * self.barriers) // 1024) * 1024


_BIG, _WIDE = (128, 128, 64), (128, 256, 64)
_BOXES: dict[str, Any] = {"box_a": (64, 128), "box_b": (64, 128)}
_WIDE_BOXES: dict[str, Any] = {"box_a": (64, 128), "box_b": (64, 256)}


def _ping_pong(name: str, columns: int, stages: int, out_columns: int, out_buffers: int) -> Rung:
    """The last rung with tiles of 128 x `columns`; a warp's store is 16 x `out_columns`, staged in `out_buffers`."""
    numbers = {"BN": columns, "STAGES": stages, "OUT_COLUMNS": out_columns, "OUT_BUFFERS": out_buffers}
    return Rung(
        name, "10_fastest", f"ping-pong, 128 x {columns}", (128, columns, 64), 384, stages, box_a=(64, 128),
        box_b=(64, columns // 2), box_c=(out_columns, 16), swizzle_c="128B" if out_columns == 64 else "none",
        barriers=2 * stages + 2, out_bytes=8 * out_buffers * 16 * out_columns * ELEMENT_BYTES, cluster=2,
        persistent=True, group=8, l2_promotion="128B",
        options=tuple(f"-DTMALAB_{field}={value}" for field, value in numbers.items()),
    )  # fmt: skip


RUNGS = {
    rung.name: rung
    for rung in (
        Rung("plain-loads", "01_plain_loads", "plain loads", _BIG, 256),
        Rung("tma", "02_tma", "TMA with one stage", _BIG, 256, **_BOXES, swizzle="none", barriers=1),
        Rung("wgmma", "03_wgmma", "128B swizzle and wgmma", _BIG, 128, **_BOXES, barriers=1),
        Rung("stages", "04_stages", "four stages", _BIG, 128, 4, **_BOXES, barriers=4),
        Rung("producer", "05_producer", "a producer of its own", _BIG, 256, 4, **_BOXES, barriers=8),
        Rung("consumers", "06_consumers", "two consumers, setmaxnreg", _WIDE, 384, 4, **_WIDE_BOXES, barriers=8),
        Rung(
            "persistent", "07_persistent", "persistent, in a good order", _WIDE, 384, 4, **_WIDE_BOXES, barriers=8,
            persistent=True, group=16,
        ),
        Rung(
            "cluster", "08_cluster", "a cluster of two, multicast", _WIDE, 384, 4, **_BOXES, barriers=8,
            persistent=True, group=8, cluster=2,
        ),
        Rung(
            "store", "09_store", "TMA store in the background", _WIDE, 384, 4, **_BOXES, box_c=(64, 16), barriers=8,
            out_bytes=8 * 2 * 16 * 64 * ELEMENT_BYTES, persistent=True, group=8, cluster=2,
        ),
        _ping_pong("fastest", 200, 5, 40, 2),
        _ping_pong("fastest-128", 128, 6, 64, 2),  # as the last, for shapes that these tiles fill better
        _ping_pong("fastest-112", 112, 7, 56, 1),
    )
}  # fmt: skip


@dataclass(frozen=True)
class GemmPlan:
    """Everything that a launch needs; the maps have no address yet, and are None where the kernel needs none."""

    rung: Rung
    m: int
    n: int
    k: int
    lda: int
    ldb: int
    ldc: int
    tiles_m: int
    tiles_n: int
    blocks: int
    map_a: TensorMap | None
    map_b: TensorMap | None
    map_c: TensorMap | None

    @property
    def flops(self) -> int:
        """Multiplications and additions of the product."""
        return 2 * self.m * self.n * self.k


def rung(name: str) -> Rung:
    """The rung of that name. Raises InputError."""
    if not isinstance(name, str) or name not in RUNGS:
        raise InputError("no such rung", field="rung", value=name, fix=f"use one of {', '.join(RUNGS)}")
    return RUNGS[name]


def gemm_plan(
    name: str, m: int, n: int, k: int, *, dtype: str = DTYPE, lda: int | None = None, ldb: int | None = None,
    ldc: int | None = None, sms: int = SMS,
) -> GemmPlan:  # fmt: skip
    """The launch of rung `name` for C (m x n) = A (m x k) times B (n x k) transposed, on `sms` multiprocessors.

    Raises InputError, with field, value, limit and fix, for what no kernel of the ladder multiplies.
    """
    chosen = rung(name)
    if dtype != DTYPE:
        raise InputError("the ladder multiplies bfloat16", field="dtype", value=dtype, limit=DTYPE, fix=f"use {DTYPE}")
    m, n, k = (_size(field, value) for field, value in (("m", m), ("n", n), ("k", k)))
    lda, ldb, ldc = _pitch("lda", k, lda), _pitch("ldb", k, ldb), _pitch("ldc", n, ldc)
    sms = integer("sms", sms)
    if sms < chosen.cluster:
        raise InputError(
            f"a cluster is {chosen.cluster} blocks, each on a multiprocessor of its own", field="sms", value=sms,
            limit=chosen.cluster, fix=f"use {chosen.cluster} or more",
        )  # fmt: skip
    rows, columns, _ = chosen.tile
    tiles_m, tiles_n = -(-m // rows), -(-n // columns)
    # What a cluster's blocks take together: where the last row of tiles is odd, one of them lies outside C.
    tiles = -(-tiles_m // chosen.cluster) * chosen.cluster * tiles_n
    if tiles > MOST_TILES:
        raise InputError(
            f"{tiles_m} x {tiles_n} tiles", field="m, n", value=(m, n), limit=MOST_TILES, fix="split the product"
        )
    blocks = tiles
    if chosen.persistent:
        blocks = min(tiles, sms // chosen.cluster * chosen.cluster)
    return GemmPlan(
        chosen, m, n, k, lda, ldb, ldc, tiles_m, tiles_n, blocks,
        map_a=_tensor_map(k, m, lda, chosen.box_a, chosen.swizzle, chosen.l2_promotion),
        map_b=_tensor_map(k, n, ldb, chosen.box_b, chosen.swizzle, chosen.l2_promotion),
        map_c=_tensor_map(n, m, ldc, chosen.box_c, chosen.swizzle_c, chosen.l2_promotion),
    )  # fmt: skip


def plan_of(params: Mapping[str, Any], sms: int = SMS) -> GemmPlan:
    """The plan of a case's parameters: rung, m, n, k, and lda, ldb, ldc where they are given. Raises InputError."""
    for name in ("rung", "m", "n", "k"):
        if name not in params:
            raise InputError("missing", field=name, value=None, fix=f"give {name}")
    lda, ldb, ldc = (params.get(name) for name in ("lda", "ldb", "ldc"))
    return gemm_plan(
        params["rung"], params["m"], params["n"], params["k"], dtype=params.get("dtype", DTYPE), lda=lda, ldb=ldb,
        ldc=ldc, sms=sms,
    )  # fmt: skip


def tile_order(name: str, tiles_m: int, tiles_n: int) -> list[tuple[int, int]]:
    """The tiles (row, column) in the order in which rung `name` takes them: block b's first is entry b.

    A cluster's blocks follow each other, one below the other. As `tile_at` in gemm.cuh.
    """
    chosen = rung(name)
    rows = -(-tiles_m // chosen.cluster)
    group = chosen.group or 1
    order = []
    for at in range(rows * tiles_n):
        first, rest = at // (group * tiles_n) * group, at % (group * tiles_n)
        height = min(group, rows - first)
        row, column = first + rest % height, rest // height
        order += [(row * chosen.cluster + rank, column) for rank in range(chosen.cluster)]
    return order


def _size(field: str, value: int) -> int:
    value = integer(field, value)
    if not 1 <= value <= MOST:
        raise InputError(
            "not a size that can be multiplied", field=field, value=value, limit=MOST, fix=f"use 1 to {MOST}"
        )
    return value


def _pitch(field: str, width: int, value: int | None) -> int:
    """Elements from one row to the next: the row itself unless given."""
    pitch = width if value is None else integer(field, value)
    if pitch < width:
        raise InputError(
            f"rows of {width} elements overlap", field=field, value=pitch, limit=width, fix=f"use {width} or more"
        )
    size = pitch * ELEMENT_BYTES
    if size % STRIDE_BYTES:
        padded = -(-size // STRIDE_BYTES) * STRIDE_BYTES // ELEMENT_BYTES
        raise InputError(
            f"rows of {pitch} elements are {size} bytes; TMA describes distances of multiples of {STRIDE_BYTES} bytes",
            field=field, value=pitch, limit=STRIDE_BYTES // ELEMENT_BYTES, fix=f"store them {field}={padded} apart",
        )  # fmt: skip
    if pitch > MOST_PITCH:
        raise InputError(
            "rows too far apart", field=field, value=pitch, limit=MOST_PITCH, fix=f"use {MOST_PITCH} or less"
        )
    return pitch


def _tensor_map(
    width: int, height: int, pitch: int, box: tuple[int, int] | None, swizzle: str, l2_promotion: str
) -> TensorMap | None:
    if box is None:
        return None
    tm = TensorMap.tiled(
        DTYPE, (width, height), (pitch * ELEMENT_BYTES,), box, swizzle=swizzle, l2_promotion=l2_promotion
    )
    if broken := tm.violations():
        raise TensorMapError(broken)
    return tm
