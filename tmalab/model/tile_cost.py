"""What an access to a tile costs a warp, and what would free it: the widest swizzle, or else a few bytes of padding.

    column of float32, 128-byte rows     none 32-way   32B 16-way   64B 8-way   128B 4-way    4 bytes of padding: free

>>> column = TileAccess("column", 4)
>>> cost(Tile(32, 128), column).degree, cost(Tile(32, 128, "128B"), column).degree
(32, 4)
>>> advise(Tile(32, 128), column).words
'No swizzle frees it: 128B leaves 4-way. 4 bytes of padding after each row do, where threads write the tile.'
>>> widest_free_swizzle(Tile(32, 128), TileAccess("column", 16))
'128B'

No numpy: a page asks the same in the reader's browser.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tmalab.errors import InputError
from tmalab.model.banks import LANES, WIDTHS, warp_access
from tmalab.model.expression_tree import ExpressionError
from tmalab.model.lane_expression import read_expression
from tmalab.model.matrix_access import matrix_access
from tmalab.model.operands import MOST_SMEM_BYTES
from tmalab.model.swizzle import span_bytes
from tmalab.model.tensor_map_fields import integer
from tmalab.model.tile_access import Tile, access_addresses
from tmalab.model.wavefronts import WarpAccess

SWIZZLES = ("none", "32B", "64B", "128B")  # what Hopper has
MATRIX_ACCESSES = {"ldmatrix": "ldmatrix_x4", "ldmatrix_trans": "ldmatrix_x4_trans"}
MATRIX_BYTES = 16
TILE_ACCESSES = ("row", "column", "diagonal", "transposed", *MATRIX_ACCESSES)
_MOST_PADDING = 128

# The same accesses as a reader may write them: a row, and a vector of it.
EXPRESSIONS = {
    "row": "lane / cols % rows, lane % cols", "column": "lane % rows, 0", "diagonal": "lane % rows, lane % cols",
    "transposed": "lane % 8 % rows, lane / 8 % cols", "ldmatrix": "lane % 16 % rows, lane / 16 % cols",
    "ldmatrix_trans": "lane % 16 % rows, lane / 16 % cols",
}  # fmt: skip


class TileAccess(NamedTuple):
    """What a warp does: one of TILE_ACCESSES, or "expression"; the bytes that a lane moves; "load" or "store".

    An expression of `lane` is the byte, from the tile's first on, that the lane's address is before the swizzle; two
    with a comma are a row and a vector of `width_bytes` in it. It may name rows, cols (vectors in a row), pitch, bytes
    (`width_bytes`), and row and col: the lane's vector when the warp reads the tile row after row.
    """

    access: str
    width_bytes: int = 4
    op: str = "load"
    expression: str = ""


def addresses(tile: Tile, access: TileAccess) -> tuple[int, ...]:
    """The 32 addresses. Raises InputError; for an expression ExpressionError, which names its column."""
    if integer("width_bytes", access.width_bytes) not in WIDTHS:
        fix = f"use one of {', '.join(map(str, WIDTHS))}"
        raise InputError("not a width that a lane can move", field="width_bytes", value=access.width_bytes, fix=fix)
    if access.access == "expression":
        return _typed(tile, access)
    name = "ldmatrix" if access.access in MATRIX_ACCESSES else access.access
    return tuple(access_addresses(tile, name, access.width_bytes))


def cost(tile: Tile, access: TileAccess) -> WarpAccess:
    """The access in wavefronts, as the H200 pays it. Raises InputError as `addresses`, and where it is not aligned."""
    wanted = addresses(tile, access)
    if access.access in MATRIX_ACCESSES and access.width_bytes != MATRIX_BYTES:
        raise InputError(
            "a lane of ldmatrix names a row of 16 bytes", field="width_bytes", value=access.width_bytes,
            limit=MATRIX_BYTES, fix="use 16",
        )  # fmt: skip
    try:
        if access.access in MATRIX_ACCESSES:
            return matrix_access(wanted, MATRIX_ACCESSES[access.access])
        return warp_access(wanted, access.width_bytes, op=access.op)
    except InputError:
        if access.access == "expression" or not tile.pitch_bytes % access.width_bytes:
            raise
        raise InputError(
            f"rows begin {tile.pitch_bytes} bytes apart; an access of {access.width_bytes} bytes would fault",
            field="padding_bytes", value=tile.padding_bytes, limit=access.width_bytes,
            fix=f"pad by a multiple of {access.width_bytes}, or read less at a time",
        ) from None  # fmt: skip


def engine_writes(tile: Tile) -> bool:
    """Whether a copy of one box leaves this layout: no padding, and rows no longer than the swizzle's span."""
    span = span_bytes(tile.swizzle)
    return not tile.padding_bytes and (not span or tile.row_bytes <= span)


# --- what frees it ----------------------------------------------------------------------------------------------------


class Advice(NamedTuple):
    """`swizzle` and `padding_bytes` of the layout to take (None: there is nothing better), and why, in words."""

    swizzle: str | None
    padding_bytes: int | None
    words: str


FREE = Advice(None, None, "Free as it is: no bank has two words to deliver at once.")


def widest_free_swizzle(tile: Tile, access: TileAccess) -> str | None:
    """The widest swizzle, of those that the engine writes in rows of this length, with no conflict; None if none has.

    "none" means that the access is free without a swizzle, and with none of the wider ones.
    """
    free = [one.swizzle for one in swizzled_tiles(tile) if engine_writes(one) and _is_free(one, access)]
    return free[-1] if free else None


def least_free_padding(tile: Tile, access: TileAccess) -> int | None:
    """The fewest bytes after each row, up to 128, that free the access without a swizzle; None if none do, or 0 do.

    Each row still begins at a multiple of what a lane moves.
    """
    step = max(4, access.width_bytes)
    plain, padded = _laid_out(tile, "none", 0), _laid_out(tile, "none", step)
    if plain is None or padded is None or _is_free(plain, access):
        return None
    if _addresses_or_none(plain, access) == _addresses_or_none(padded, access):  # who names no row is not helped
        return None
    for padding in range(step, _MOST_PADDING + 1, step):
        padded = _laid_out(tile, "none", padding)
        if padded and _is_free(padded, access):
            return padding
    return None


def advise(tile: Tile, access: TileAccess) -> Advice:
    """The layout to take for this access, in words. Raises InputError as `addresses` does."""
    addresses(tile, access)  # what cannot be read is no question of layouts
    return FREE if _is_free(tile, access) else remedy(tile, access, least_free_padding(tile, access))


def remedy(tile: Tile, access: TileAccess, padding: int | None) -> Advice:
    """The layout that frees an access which is not free: the engine's widest swizzle, else `padding`, the least."""
    free = widest_free_swizzle(tile, access)
    if free == "none":
        return Advice("none", 0, "It is free without a swizzle.")
    if free:
        return Advice(free, 0, f"{free} frees it, and is the widest swizzle that does.")
    padded = f"{padding} bytes of padding after each row"
    widest = [one for one in swizzled_tiles(tile) if engine_writes(one)][-1]
    if widest.swizzle == "none":
        boxes = f"The engine swizzles no rows of {tile.row_bytes} bytes: copy boxes of 128 bytes a row"
        return Advice("none", padding, f"{boxes}, or write {padded}.") if padding else Advice(None, None, f"{boxes}.")
    left = cost_or_none(widest, access)
    left_words = f": {widest.swizzle} leaves {left.degree}-way" if left else ""
    if padding:
        words = f"No swizzle frees it{left_words}. {padded} do, where threads write the tile."
        return Advice("none", padding, words)
    return Advice(
        None, None, f"No swizzle frees it{left_words}. Nor does padding: let the lanes read in another order."
    )


def swizzled_tiles(tile: Tile) -> list[Tile]:
    """The tile without padding in each swizzle in which shared memory holds it, the widest last."""
    return [laid_out for swizzle in SWIZZLES if (laid_out := _laid_out(tile, swizzle, 0))]


def _laid_out(tile: Tile, swizzle: str, padding_bytes: int) -> Tile | None:
    """The tile in another layout; None where that is too large."""
    try:
        return replace(tile, swizzle=swizzle, padding_bytes=padding_bytes)
    except InputError:
        return None


def _addresses_or_none(tile: Tile, access: TileAccess) -> tuple[int, ...] | None:
    try:
        return addresses(tile, access)
    except InputError:
        return None


def cost_or_none(tile: Tile, access: TileAccess) -> WarpAccess | None:
    """The cost, None where a warp cannot run it."""
    try:
        return cost(tile, access)
    except InputError:
        return None


def _is_free(tile: Tile, access: TileAccess) -> bool:
    found = cost_or_none(tile, access)
    return found is not None and found.degree == 1


# --- the reader's own expression --------------------------------------------------------------------------------------


def _typed(tile: Tile, access: TileAccess) -> tuple[int, ...]:
    expression = read_expression(access.expression)
    vectors = max(tile.row_bytes // access.width_bytes, 1)
    found = []
    for lane in range(LANES):
        values = expression(
            lane=lane, row=lane // vectors % tile.rows, col=lane % vectors, rows=tile.rows, cols=vectors,
            pitch=tile.pitch_bytes, bytes=access.width_bytes,
        )  # fmt: skip
        limits = (MOST_SMEM_BYTES - tile.base,) if len(values) == 1 else (tile.rows, vectors)
        for what, value, limit in zip(
            ("row", "vector") if len(values) == 2 else ("byte",), values, limits, strict=True
        ):
            if not 0 <= value < limit:
                raise ExpressionError(
                    f"{what} {value} at lane {lane} is not there", text=access.expression, column=1,
                    fix=f"stay within 0 to {limit - 1}",
                )  # fmt: skip
        row, byte = (0, values[0]) if len(values) == 1 else (values[0], values[1] * access.width_bytes)
        found.append(tile.address(row, byte))
    return tuple(found)
