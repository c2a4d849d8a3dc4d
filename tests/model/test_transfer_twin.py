"""The model against a second telling of it: one element, one byte, one fraction at a time, and no numpy in the telling.

The twin knows the swizzle from the tables that PTX ISA prints, steps through an im2col walk pixel by pixel, and adds
floats as fractions. Hypothesis makes the maps; a failure shrinks to the smallest one.
"""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmalab import TensorMap, TmaLabError, model
from tmalab.model.rules.launch import REDUCTION_TYPES

# --- The twin ---------------------------------------------------------------------------------------------------------

CHUNKS = {
    "none": ["01234567"],
    "32B": ["01234567", "10325476"],
    "64B": ["01234567", "10325476", "23016745", "32107654"],
    "128B": ["01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"],
}
SPANS = {"none": 0, "32B": 32, "64B": 64, "128B": 128}
SLICES = {"16B": 16, "32B": 32}
FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
SAME_FORMAT = {"float32_ftz": "float32", "tfloat32": "float32", "tfloat32_ftz": "float32"}


def stands_at(address, swizzle):
    lines = CHUNKS[swizzle]
    place = lines[address // 128 % len(lines)].index(str(address // 16 % 8))
    return address // 128 * 128 + place * 16 + address % 16


def units(tm, coords, offsets):
    """(row, position in its row, coordinates) of each unit of the box in the order of shared memory; its bytes."""
    rank = tm.rank
    if tm.kind == "im2col":
        assert tm.interleave == "none"
        at = list(coords)
        for pixel in range(tm.pixels_per_column):
            for channel in range(tm.channels_per_pixel):
                tap = [c + o for c, o in zip(at[1:], [*offsets, 0], strict=True)]
                yield pixel, channel, (coords[0] + channel, *tap)
            for dim in range(1, rank - 1):
                at[dim] += tm.element_strides[dim]
                if at[dim] <= tm.global_dim[dim] - 1 + tm.upper_corner[dim - 1]:
                    break
                at[dim] = tm.lower_corner[dim - 1]
            else:
                at[rank - 1] += tm.element_strides[rank - 1]
        return
    sliced = tm.interleave != "none"
    ranges = []
    for dim, (start, size, step) in enumerate(zip(coords, tm.box_dim, tm.element_strides, strict=True)):
        if dim == 0 and not sliced:
            step = 1
        ranges.append([start] if sliced and dim == rank - 2 else list(range(start, start + size, step)))
    for row, outer in enumerate(product(*reversed(ranges[1:]))):
        for position, inner in enumerate(ranges[0]):
            yield row, position, (inner, *reversed(outer))


def moves(tm, coords, offsets, base, to_memory):
    """(address in memory or None where nothing exists, address in shared memory) of each byte of the box."""
    size = SLICES.get(tm.interleave, tm.element.bytes)
    listed = list(units(tm, coords, offsets))
    width = max((position for _, position, _ in listed), default=-1) + 1
    pitch = width * size if tm.interleave != "none" else max(width * size, SPANS[tm.swizzle])
    for row, position, at in listed:
        exists = all(0 <= c < n for c, n in zip(at[1:], tm.global_dim[1:], strict=True)) and at[0] >= 0
        end = tm.global_dim[0] * size
        exists = exists and at[0] * size < (-(-end // 16) * 16 if to_memory else end)
        source = sum(c * s for c, s in zip(at, (size, *tm.global_strides), strict=True))
        for byte in range(size):
            yield (
                (source + byte if exists else None),
                stands_at(base + row * pitch + position * size + byte, tm.swizzle),
            )


def tf32(bits):
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return 0x7FFFE000 if mantissa else bits
    magnitude = bits & 0x7FFFFFFF
    low = magnitude % 8192
    up = low > 4096 or (low == 4096 and magnitude // 8192 % 2)
    return (bits & 0x80000000) + (magnitude // 8192 + up) * 8192


def twin_load(tm, memory, coords, smem_bytes, base, offsets, background=0xCD):
    smem = bytearray([background] * smem_bytes)
    places = list(moves(tm, coords, offsets, base, False))
    for number, (source, place) in enumerate(places):
        if source is not None:
            smem[place] = memory[source]
        else:
            smem[place] = 0 if tm.oob_fill == "none" else (0xF7, 0x7F)[number % 2]
    if tm.dtype.startswith("tfloat32"):
        for number in range(0, len(places), 4):
            if places[number][0] is not None:
                word = places[number][1]
                smem[word : word + 4] = tf32(int.from_bytes(smem[word : word + 4], "little")).to_bytes(4, "little")
    return bytes(smem)


def twin_store(tm, smem, coords, memory, base, combined=None):
    changed = bytearray(memory)
    size = tm.element.bytes
    places = list(moves(tm, coords, (0,) * (tm.rank - 2), base, True))
    for number in range(0, len(places), size):
        to, source = places[number]
        if to is not None:
            comes = int.from_bytes(smem[source : source + size], "little")
            there = int.from_bytes(changed[to : to + size], "little")
            result = comes if combined is None else combined(there, comes)
            changed[to : to + size] = result.to_bytes(size, "little")
    return bytes(changed)


def value_of(bits, dtype):
    """A fraction, or 'inf', '-inf', 'nan'."""
    exponent_bits, mantissa_bits = FORMATS[SAME_FORMAT.get(dtype, dtype)]
    sign = -1 if bits >> exponent_bits + mantissa_bits else 1
    exponent, mantissa = bits >> mantissa_bits & (1 << exponent_bits) - 1, bits & (1 << mantissa_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        return "nan" if mantissa else ("inf" if sign == 1 else "-inf")
    bias = (1 << exponent_bits - 1) - 1
    scale = max(exponent, 1) - bias - mantissa_bits
    return sign * Fraction(mantissa + (bool(exponent) << mantissa_bits)) * Fraction(2) ** scale


def bits_of(value, dtype):
    """The nearest float, ties to even, of a fraction that is not zero."""
    exponent_bits, mantissa_bits = FORMATS[SAME_FORMAT.get(dtype, dtype)]
    bias = (1 << exponent_bits - 1) - 1
    sign, value = (1, -value) if value < 0 else (0, value)
    scale = max(value.numerator.bit_length() - value.denominator.bit_length() - 2, 1 - bias) - mantissa_bits
    while value >= Fraction(2) ** (scale + mantissa_bits + 1):
        scale += 1
    whole = round(value / Fraction(2) ** scale)  # Python rounds a Fraction's ties to even
    if whole >> mantissa_bits + 1:
        whole, scale = whole >> 1, scale + 1
    exponent = scale + mantissa_bits + bias if whole >> mantissa_bits else 0
    if exponent >= (1 << exponent_bits) - 1:
        exponent, whole = (1 << exponent_bits) - 1, 0
    return sign << exponent_bits + mantissa_bits | exponent << mantissa_bits | whole & (1 << mantissa_bits) - 1


def twin_add(there, comes, dtype):
    if dtype.endswith("ftz"):
        there, comes = (bits if bits >> 23 & 0xFF else bits & 1 << 31 for bits in (there, comes))
    a, b = value_of(there, dtype), value_of(comes, dtype)
    if "nan" in (a, b) or {a, b} == {"inf", "-inf"}:
        if dtype == "float64":
            return comes if b == "nan" else there if a == "nan" else None
        return 0x7FFF if dtype in ("float16", "bfloat16") else 0x7FFFFFFF
    if isinstance(a, str) or isinstance(b, str):
        return there if isinstance(a, str) else comes
    if a + b == 0:
        return there & comes if a == 0 else 0  # only -0 and -0 make -0
    result = bits_of(a + b, dtype)
    return result & 1 << 31 if dtype.endswith("ftz") and not result >> 23 & 0xFF else result


def twin_order(op, there, comes, dtype):
    a, b = value_of(there, dtype), value_of(comes, dtype)
    if a == "nan" and b == "nan":
        return 0x7FFF
    if "nan" in (a, b):
        return comes if a == "nan" else there

    def rank(bits, value):  # -0 below +0
        return float(value), -(bits >> 15)

    return (min if op == "min" else max)((rank(there, a), there), (rank(comes, b), comes))[1]


def twin_combine(dtype, op, there, comes):
    bits = 8 * SIZES[dtype]
    if "float" in dtype:
        return twin_add(there, comes, dtype) if op == "add" else twin_order(op, there, comes, dtype)
    if dtype[0] == "i":
        signed = [number - (number >> bits - 1 << bits) for number in (there, comes)]
    else:
        signed = [there, comes]
    results = {
        "add": sum(signed), "min": min(signed), "max": max(signed), "and": there & comes, "or": there | comes,
        "xor": there ^ comes, "inc": 0 if there >= comes else there + 1,
        "dec": comes if there == 0 or there > comes else there - 1,
    }  # fmt: skip
    return results[op] % (1 << bits)


# --- Maps and operands ------------------------------------------------------------------------------------------------

SIZES = {
    "uint8": 1, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4, "float32_ftz": 4,
    "tfloat32": 4, "tfloat32_ftz": 4, "int64": 8, "uint64": 8, "float64": 8,
}  # fmt: skip
MEMORY = np.random.default_rng(4).integers(0, 256, 1 << 18, dtype=np.uint8)
SMEM = np.random.default_rng(5).integers(0, 256, 1 << 16, dtype=np.uint8)
BASES = st.integers(0, 16).map(lambda number: 128 * number)


@st.composite
def tiled_copies(draw, dtypes=tuple(SIZES)):
    dtype = draw(st.sampled_from(dtypes))
    size = SIZES[dtype]
    rank = draw(st.integers(1, 5))
    interleave = draw(st.sampled_from(["none", "none", "16B", "32B"])) if rank >= 3 else "none"
    swizzle = draw(st.sampled_from(list(SPANS))) if interleave != "32B" else "32B"
    most = 6 if swizzle == "none" else SPANS[swizzle] // 16
    inner = draw(st.integers(1, most)) * 16 // size
    if interleave == "none":
        dims = [draw(st.integers(1, 2 * inner))]
        first = draw(st.integers(-2, 3)) * 16 // size
    else:
        inner, dims, first = draw(st.integers(1, 5)), [draw(st.integers(1, 8))], draw(st.integers(-2, 6))
    box, coords, unit = [inner], [first], SLICES.get(interleave, size)
    for _ in range(rank - 1):
        dims.append(draw(st.integers(1, 5)))
        box.append(draw(st.integers(1, 4)))
        coords.append(draw(st.integers(-2, 5)))
    strides, row = [], dims[0] * unit
    for extent in dims[1:]:
        strides.append(-(-row // 32) * 32 + draw(st.sampled_from([0, 0, 32])))
        row = strides[-1] * extent
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3])) for _ in range(rank)]
    fill = draw(st.sampled_from(["none", "nan"])) if "float" in dtype else "none"
    tm = TensorMap.tiled(
        dtype, dims, strides, box, element_strides=steps, interleave=interleave, swizzle=swizzle, oob_fill=fill
    )
    return tm, tuple(coords), ()


@st.composite
def im2col_copies(draw):
    dtype = draw(st.sampled_from(["uint8", "float16", "tfloat32", "float64"]))
    size, rank = SIZES[dtype], draw(st.integers(3, 5))
    swizzle = draw(st.sampled_from(list(SPANS)))
    channels = draw(st.integers(1, max(SPANS[swizzle] // 16, 1))) * 16 // size
    dims = [draw(st.integers(1, 2 * channels)), *(draw(st.integers(1, 5)) for _ in range(rank - 1))]
    strides, row = [], dims[0] * size
    for extent in dims[1:]:
        strides.append(-(-row // 16) * 16)
        row = strides[-1] * extent
    lower, upper, steps, coords = [], [], [1], [draw(st.integers(-1, 2)) * 16 // size]
    for extent in dims[1:-1]:
        lower.append(draw(st.integers(-3, 1)))
        upper.append(draw(st.integers(lower[-1] - extent + 1, lower[-1] + 3)))
        steps.append(draw(st.integers(1, 3)))
        coords.append(draw(st.integers(lower[-1] - 2, extent - 1 + upper[-1] + 2)))
    coords.append(draw(st.integers(-1, dims[-1])))
    tm = TensorMap.im2col(
        dtype, dims, strides, lower, upper, channels, draw(st.integers(1, 40)), swizzle=swizzle,
        element_strides=[*steps, draw(st.integers(1, 2))],
        oob_fill=draw(st.sampled_from(["none", "nan"])) if "float" in dtype else "none",
    )  # fmt: skip
    return tm, tuple(coords), tuple(draw(st.integers(0, 4)) for _ in range(rank - 2))


# --- The two against each other ---------------------------------------------------------------------------------------


def check_load(copy, base):
    tm, coords, offsets = copy
    found = model.load(tm, MEMORY, coords, smem_bytes=SMEM.size, smem_base=base, offsets=offsets)
    assert found.tobytes() == twin_load(tm, MEMORY, coords, SMEM.size, base, offsets)


@settings(deadline=None)
@given(tiled_copies(), BASES)
def test_tiled_loads(copy, base):
    check_load(copy, base)


@settings(deadline=None)
@given(im2col_copies(), BASES)
def test_im2col_loads(copy, base):
    check_load(copy, base)


@settings(deadline=None)
@given(st.one_of(tiled_copies(), im2col_copies()), BASES)
def test_stores(copy, base):
    tm, coords, _ = copy
    found = model.store(tm, SMEM, coords, memory=MEMORY, smem_base=base)
    assert found.tobytes() == twin_store(tm, SMEM, coords, MEMORY, base)


@settings(deadline=None)
@given(st.data(), st.sampled_from(list(REDUCTION_TYPES)), BASES)
def test_reductions(data, op, base):
    tm, coords, _ = data.draw(tiled_copies(REDUCTION_TYPES[op]))
    found = model.reduce(tm, SMEM, coords, op, memory=MEMORY, smem_base=base)
    expected = twin_store(tm, SMEM, coords, MEMORY, base, lambda there, comes: twin_combine(tm.dtype, op, there, comes))
    assert found.tobytes() == expected


@st.composite
def float_bits(draw, dtype):
    exponent_bits, mantissa_bits = FORMATS[SAME_FORMAT.get(dtype, dtype)]
    top = (1 << exponent_bits) - 1
    exponent = draw(st.sampled_from([0, 1, 2, top // 2 - 1, top // 2, top // 2 + 1, top - 1, top]))
    mantissa = draw(
        st.one_of(st.sampled_from([0, 1, (1 << mantissa_bits) - 1]), st.integers(0, (1 << mantissa_bits) - 1))
    )
    return draw(st.integers(0, 1)) << exponent_bits + mantissa_bits | exponent << mantissa_bits | mantissa


@settings(deadline=None)
@given(st.data(), st.sampled_from([*FORMATS, *SAME_FORMAT]), st.sampled_from(["add", "min", "max"]))
def test_special_floats(data, dtype, op):
    if dtype not in REDUCTION_TYPES[op]:
        return
    size = SIZES[dtype]
    pairs = data.draw(st.lists(st.tuples(float_bits(dtype), float_bits(dtype)), min_size=8, max_size=16))
    pairs = (pairs * 2)[: 16 // size * 2] if size < 8 else pairs[:8]
    there, comes = np.array(pairs, f"<u{size}").T.copy()
    tm = TensorMap.tiled(dtype, (len(pairs),), (), (len(pairs),))
    found = model.reduce(tm, comes.view(np.uint8), (0,), op, memory=there.view(np.uint8)).view(f"<u{size}").tolist()
    for result, (a, b) in zip(found, pairs, strict=True):
        expected = twin_combine(dtype, op, a, b)
        if expected is None:  # inf - inf of float64: some NaN, not measured which
            assert value_of(result, dtype) == "nan"
        else:
            assert result == expected, (hex(a), hex(b))


def test_tf32_around_every_tie():
    near = [*range(0x3F800000, 0x3F806000, 7), *range(0x3F800FFE, 0x3F803003), *range(0x7F7FEFFE, 0x7F800003)]
    bits = np.array([[one, one | 1 << 31, one & 0x7FFFFF, one ^ 0x40000000] for one in near], "<u4")
    tm = TensorMap.tiled("tfloat32", (bits.size,), (), (bits.size,))
    found = model.load(tm, bits.reshape(-1).view(np.uint8), (0,), smem_bytes=bits.nbytes).view("<u4")
    assert found.tolist() == [tf32(int(one)) for one in bits.reshape(-1)]


# --- Anything at all --------------------------------------------------------------------------------------------------

NUMBERS = st.one_of(st.integers(-4, 40), st.sampled_from([255, 256, 2**31 - 1, 2**32, 2**40, 2**63, -(2**63), 10**40]))


@st.composite
def any_maps(draw):
    rank = draw(st.integers(0, 6))

    def numbers(count):
        return draw(st.lists(NUMBERS, min_size=max(count, 0), max_size=max(count, 0)))

    modes = {
        "element_strides": numbers(rank), "interleave": draw(st.sampled_from(["none", "16B", "32B"])),
        "swizzle": draw(st.sampled_from([*SPANS, "128B_ATOM_32B_FLIP_8B"])),
    }  # fmt: skip
    dtype = draw(st.sampled_from([*SIZES, "16u6_align16b"]))
    if draw(st.booleans()):
        return TensorMap.tiled(dtype, numbers(rank), numbers(rank - 1), numbers(rank), **modes)
    corners = numbers(rank - 2), numbers(rank - 2)
    return TensorMap.im2col(dtype, numbers(rank), numbers(rank - 1), *corners, draw(NUMBERS), draw(NUMBERS), **modes)


@settings(deadline=None, max_examples=300)
@given(any_maps(), st.lists(NUMBERS, max_size=6), st.lists(NUMBERS, max_size=4), NUMBERS)
@example(TensorMap.tiled("uint8", (4, 4), (2**62,), (16, 4)), [0, 0], [], 0)
@example(TensorMap.tiled("uint8", (4, 4), (16,), (2**32, 0)), [0, 0], [], 0)
@example(TensorMap.im2col("uint8", (1, 1, 1), (0, 2**63), (0,), (0,), 1, 1), [0, 0, 0], [], 0)
def test_no_map_and_no_operands_raise_anything_but_our_own_errors(tm, coords, offsets, base):
    coords = (coords + [0] * tm.rank)[: tm.rank]
    questions = [
        lambda: model.shared_offsets(tm, base),
        lambda: model.load(tm, MEMORY, coords, smem_bytes=4096, smem_base=base, offsets=offsets),
        lambda: model.store(tm, SMEM, coords, memory=MEMORY, smem_base=base),
        lambda: model.reduce(tm, SMEM, coords, "add", memory=MEMORY, smem_base=base),
    ]
    for question in questions:
        try:
            assert question().size >= 0
        except TmaLabError as error:
            assert len(str(error)) < 10_000  # noqa: PT017  (any other error fails the test)
