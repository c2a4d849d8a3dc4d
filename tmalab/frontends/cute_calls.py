"""The calls that programs/cute_anatomy.py looks at, each with its arguments, beside what it gave or what it became.

    make_layout((8448, 1792), stride=(1792, 1))          mbarrier_init(barrier, 1)
        (8448,1792):(1792,1)                                 mbarrier.init.shared.b64 [%r2], %r11;

>>> print(*calls({"make_swizzle": "S<0,4,3>"}, "make_swizzle"), sep="\\n")
make_swizzle(0, 4, 3)
    S<0,4,3>
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tmalab.errors import InputError
from tmalab.frontends.comparison import Table

# What the program calls a result, and the call itself; names stand for results of calls before.
CALLS = {
    "make_layout": "make_layout((8448, 1792), stride=(1792, 1))",
    "layout((0, 1))": "layout((0, 1))",
    "layout((1, 0))": "layout((1, 0))",
    "layout((64, 512))": "layout((64, 512))",
    "make_tensor": "make_tensor(source.iterator, layout)",
    "make_layout(tile)": "make_layout((64, 256), stride=(256, 1))",
    "make_swizzle": "make_swizzle(0, 4, 3)",
    "make_composed_layout": "make_composed_layout(swizzle, 0, tile_layout)",
    "CopyBulkTensorTileG2SOp": "CopyBulkTensorTileG2SOp()",
    "make_tiled_tma_atom": "made = make_tiled_tma_atom(operation, matrix_view, shared_layout, (64, 256))",
    "results": "len(made)",
    "atom.type": "load_atom, coordinate_view = made; the type of load_atom",
    "coordinate tensor": "coordinate_view",
    "coordinate tensor.stride": "coordinate_view.stride",
    "coordinate tensor[64, 512]": "coordinate_view[64, 512]",
    "allocate_tensor": "tile = SmemAllocator().allocate_tensor(Float16, shared_layout, byte_alignment=128)",
    "allocate_array": "barrier = SmemAllocator().allocate_array(Int64, 1, byte_alignment=8)",
    "local_tile": "chosen = local_tile(coordinate_view, (64, 256), (1, 2))",
    "group_modes(shared).before": "tile.layout",
    "group_modes(shared)": "group_modes(tile, 0, 2).layout",
    "group_modes(global)": "group_modes(chosen, 0, 2)",
    "size before and after": "size(chosen), size(group_modes(chosen, 0, 2))",
    "rank before and after": "rank(chosen), rank(group_modes(chosen, 0, 2))",
    "make_layout(1)": "make_layout(1)",
    "tma_partition.shared": "tma_partition(load_atom, 0, make_layout(1), shared_group, global_group)[0].layout",
    "tma_partition.global": "tma_partition(load_atom, 0, make_layout(1), shared_group, global_group)[1]",
    "tma_partition of tile (0, 0)": "the same for local_tile(coordinate_view, (64, 256), (0, 0))",
    **{
        f"multicast.{side}.{cta}": f"tma_partition(cast_atom, {cta}, make_layout(2), shared_group, cast_group)[{index}]"
        for index, side in enumerate(("shared", "global"))
        for cta in (0, 1)
    },
}


def calls(seen: Mapping[str, str], *names: str) -> Iterator[str]:
    """Each call and, under it, what it gave. Raises InputError for a name that the program does not have."""
    for name in names:
        if name not in CALLS or name not in seen:
            raise InputError("not looked at", field="name", value=name, fix=f"use one of {', '.join(CALLS)}")
        yield CALLS[name]
        yield f"    {seen[name]}"


# In the kernel's order: a call that gives nothing and does something, what it says, and how its PTX begins.
ISSUED = (
    ("with elect_one():", "of 32 lanes, one goes on", ("elect.sync",)),
    ("mbarrier_init(barrier, 1)", "a phase awaits one arrival", ("mbarrier.init",)),
    ("mbarrier_init_fence()", "the engine finds the barrier initialised", ("fence.mbarrier_init",)),
    ("barrier()", "all threads of the block have come here", ("bar.sync",)),
    ("with elect_one():", "again one, in each round of the loop", ("elect.sync",)),
    ("mbarrier_arrive_and_expect_tx(barrier, 32768)", "that arrival, and so many bytes to come",
     ("mbarrier.arrive.expect_tx",)),
    ("copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)",
     "by the atom's map, from these coordinates, to this place, told to that barrier",
     ("elect.sync", "cp.async.bulk.tensor")),
    ("mbarrier_wait(barrier, phase)", "until the phase of this parity is over", ("mbarrier.try_wait.parity",)),
    ("barrier()", "nobody loads into the tile before all have read it", ("bar.sync",)),
)  # fmt: skip


def issued(ptx: Sequence[str]) -> Table:
    """What each call of the device's side became: its first lines in `ptx`, which must stand there in the calls' order.

    Raises InputError for PTX that lacks one.
    """
    rest, rows = iter(ptx), []
    for call, says, signs in ISSUED:
        found = [next((" ".join(line.split()) for line in rest if line.startswith(sign)), None) for sign in signs]
        if None in found:
            raise InputError(
                f"no {' and '.join(signs)} in this place", field="ptx", value=call, fix="give the kernel's"
            )
        rows.append([call, says, " ".join(map(str, found))])
    return Table(("call", "says", "in the PTX"), rows)
