"""The 128 bytes of a `CUtensorMap`, as somebody printed them in a debugger, in a dump or as numbers.

    gdb: x/32xw &map ──byte_dump──▶ 128 bytes ──encoded_map──▶ Reading: the map, its bytes, the address they lie at

>>> next(read("00" * 128)).message
'all 128 bytes are 0: no map was encoded here'

Where the bits stand was measured (see tmalab.model.encoded_map). Bytes that are no map are told what they are instead,
where that can be shown; a map that only its smaller words contradict is read, and the checker says what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tmalab.errors import InputError, TmaLabError
from tmalab.inputs.byte_dump import looks_like, pieces
from tmalab.inputs.dump_rows import FORM, Piece
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading
from tmalab.model.encoded_map import ENCODED_BYTES, decode, expected, is_im2col, read_bits, unknown_bits
from tmalab.model.tensor_map import TensorMap

__all__ = ["FORM", "looks_like", "read"]

PLACES = (
    "the bits' places are those that an H200's driver 580.159.04 was measured to use; another driver may use others"
)
# A driver with a field more sets a few bits that nobody knows; of any other bytes half of the 529 are set.
_MOST_UNKNOWN = 16
# Below it an address is no pointer: a kernel's parameters are counted from the start of their own memory.
_FIRST_POINTER = 1 << 16
_WHOLE = "print all 128 bytes, from the map's first on: x/32xw &map, or p/x map"


def read(text: str) -> Iterator[Reading | UnreadableError]:
    """Each map in `text`, as a Reading or as the error that says why these bytes are none."""
    try:
        found = list(pieces(text))
    except UnreadableError as error:
        yield error
        return
    for piece in found:
        if not piece.data or len(piece.data) % ENCODED_BYTES:
            gap = ""
            if piece.address is not None and piece.follows is not None:
                gap = f", and the next address is {piece.follows:#x}, not {piece.address + len(piece.data):#x}"
            message = f"{len(piece.data)} bytes were read{gap}; a map has {ENCODED_BYTES}"
            yield UnreadableError(message, text=text, offset=piece.offset, form=FORM, fix=_WHOLE)
            continue
        for start in range(0, len(piece.data), ENCODED_BYTES):
            address = None if piece.address is None else piece.address + start
            try:
                yield _reading(text, Piece(piece.data[start : start + ENCODED_BYTES], piece.offset, address))
            except UnreadableError as error:
                yield error


def _reading(text: str, piece: Piece) -> Reading:
    def no_map(message: str, fix: str) -> UnreadableError:
        return UnreadableError(message, text=text, offset=piece.offset, form=FORM, fix=fix)

    data = piece.data
    if not any(data):
        raise no_map(
            "all 128 bytes are 0: no map was encoded here",
            "look at what the encoder returned, since of a map that it refuses the driver writes nothing; then at the "
            "copy that should have brought the map to this address",
        )
    if not as_written(data):
        for order, turned in _ORDERS.items():
            if as_written(turned(data)):
                raise no_map(
                    f"{order}; turned round they are a whole map: {_shown(decode(turned(data)))}",
                    "print bytes in memory's order, or words with x/32xw &map; if memory itself is so, what copied the "
                    "map turned them",
                )
        odd = len(unknown_bits(data)) - is_im2col(data)
        if odd > _MOST_UNKNOWN:
            raise no_map(
                f"no map: {odd} bits are set that belong to no field", "see that the address is the map's: p &map"
            )
        if is_im2col(data):
            raise no_map(_im2col(data), "check an im2col map by what it was encoded from, as JSON or as flags")
    try:
        tm = decode(data)
    except InputError as error:
        fix = "the map was damaged or this is none: encode it again, and print all 128 bytes of it"
        raise no_map(f"{error.field} is {error.value}, which stands for nothing", fix) from None
    fields = {name: value for name, value in tm.to_dict().items() if value is not None}
    if piece.address is not None and piece.address >= _FIRST_POINTER:
        fields["descriptor_align"] = piece.address
    return Reading(FORM, fields | {"encoded": data}, text, piece.offset, notes=(PLACES,))


def as_written(data: bytes) -> bool:
    """Whether these are, to the bit, what the driver writes for the tiled map that they say."""
    try:
        return expected(decode(data)) == data
    except TmaLabError:
        return False


def _words(size: int) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(data[at : at + size][::-1] for at in range(0, len(data), size))


def _halves(data: bytes) -> bytes:
    return b"".join(data[at + 4 : at + 8] + data[at : at + 4] for at in range(0, len(data), 8))


_ORDERS: dict[str, Callable[[bytes], bytes]] = {
    "the bytes of each 4-byte word stand the wrong way round": _words(4),
    "the bytes of each 8-byte word stand the wrong way round": _words(8),
    "the bytes of each 2-byte word stand the wrong way round": _words(2),
    "the halves of each 8-byte word are exchanged": _halves,
    "all 128 bytes stand the wrong way round": lambda data: data[::-1],
    "the 8-byte words stand the wrong way round": lambda data: _words(8)(data[::-1]),
    "the 4-byte words stand the wrong way round": lambda data: _words(4)(data[::-1]),
}


def _shown(tm: TensorMap) -> str:
    dims, box = (" x ".join(map(str, sizes)) for sizes in (tm.global_dim, tm.box_dim))
    return f"{tm.dtype}, global_dim {dims}, box_dim {box}"


def _im2col(data: bytes) -> str:
    """What an im2col map's bytes share with a tiled one's: four were recorded, and all four have these there."""
    rank = read_bits(data, "rank") + 1
    dims = " x ".join(str(read_bits(data, f"global_dim[{dim}]") + 1) for dim in range(min(rank, 5)))
    return (
        f"an im2col map's bytes, of a tensor of {dims} at {read_bits(data, 'address'):#x}; where such a map keeps its "
        "corners and counts is not known here"
    )
