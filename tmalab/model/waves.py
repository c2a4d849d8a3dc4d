"""Wave quantisation: what share of the multipliers a product can use at most, where each block takes whole tiles.

    512 tiles on 132 multiprocessors      132 │ 132 │ 132 │ 116 and 16 idle      four waves, 97 %
    m, n and k that the tile does not divide are rounded up: what is multiplied outside counts as lost too

>>> round(usable_share((4096, 4096, 4096), (128, 256, 64)), 3)
0.97
>>> round(usable_share((1024, 1024, 1024), (128, 256, 64)), 3)
0.242
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab.errors import InputError, wrong_length
from tmalab.model.tensor_map_fields import integer

SMS = 132  # multiprocessors of an H200
PEAK_TFLOPS = 989.4  # dense bf16, as NVIDIA's data sheet of the H200 says
FLOPS_PER_CYCLE = 4096  # bf16 multiplications and additions of one multiprocessor


def tile_count(size: Sequence[int], tile: Sequence[int], *, cluster: int = 1) -> int:
    """Tiles that cover C, `size` being m, n, k; a cluster takes `cluster` that lie below each other.

    Raises InputError for what is no size, as all of this module do.
    """
    (m, n, _), (rows, columns, _) = _three("size", size), _three("tile", tile)
    _positive("cluster", cluster)
    down = -(-m // (rows * cluster)) * cluster
    return down * -(-n // columns)


def waves(tiles: int, *, sms: int = SMS) -> int:
    """How often the fullest multiprocessor takes a tile."""
    _positive("tiles", tiles)
    _positive("sms", sms)
    return -(-tiles // sms)


def usable_share(size: Sequence[int], tile: Sequence[int], *, sms: int = SMS, cluster: int = 1) -> float:
    """Of all that the multiprocessors multiply until the last wave ends, the share that the product needs, 0 to 1."""
    m, n, k = _three("size", size)
    rows, columns, depth = _three("tile", tile)
    steps = -(-k // depth)
    done = waves(tile_count(size, tile, cluster=cluster), sms=sms) * sms * rows * columns * steps * depth
    return m * n * k / done


def roof_tflops(size: Sequence[int], tile: Sequence[int], *, cluster: int = 1) -> float:
    """What tensor cores that never wait would reach at the data sheet's rate, in whole waves of tiles."""
    return PEAK_TFLOPS * usable_share(size, tile, cluster=cluster)


def step_cycles(tile: Sequence[int]) -> float:
    """Cycles that one multiprocessor's tensor cores need for one step of K of a tile."""
    rows, columns, depth = _three("tile", tile)
    return 2 * rows * columns * depth / FLOPS_PER_CYCLE


def _three(field: str, numbers: Sequence[int]) -> Sequence[int]:
    if not isinstance(numbers, list | tuple) or len(numbers) != 3:
        found = len(numbers) if isinstance(numbers, list | tuple) else 1
        raise InputError(wrong_length(found, 3), field=field, value=numbers, limit=3, fix="give (m, n, k)")
    for number in numbers:
        _positive(field, number)
    return numbers


def _positive(field: str, number: int) -> None:
    if integer(field, number) < 1:
        raise InputError("not a positive integer", field=field, value=number, limit=1, fix="give 1 or more")
