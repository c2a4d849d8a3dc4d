"""What the driver's encoder takes and refuses, where no manual says so or another thing is written.

    TensorMap ──cuTensorMapEncode…──▶ accepted | refused

>>> [trial.answer for trial in ENCODER[0].trials]
['accepted', 'accepted', 'refused']
"""

from __future__ import annotations

from tmalab.experiment.facts.fact import COUNTED, FLOATS, encoded, fact, line, moved
from tmalab.model.tensor_map import TensorMap

TILED, IM2COL = "CUDA driver API, cuTensorMapEncodeTiled", "CUDA driver API, cuTensorMapEncodeIm2col"
CUBE = ("uint8", (256, 256, 256), (256, 65536))
SLICES = ("float32", (8, 4, 2), (128, 512))  # three dimensions, as an interleaved map needs


def _strided(box: tuple[int, ...], stride: int) -> TensorMap:
    """A box of bytes in three or four dimensions, with an element stride along the last."""
    dims, pitches = (256,) * len(box), (256, 65536, 1 << 24)[: len(box) - 1]
    return TensorMap.tiled("uint8", dims, pitches, box, element_strides=(*(1,) * (len(box) - 1), stride))


ENCODER = (
    fact(
        "box-of-228-kib",
        "A box has at most 233472 bytes (228 KiB), the shared memory of an SM. A block can have 227.",
        f"{TILED}, boxDim: gives no limit for the whole box.",
        encoded("227-kib-and-16", "accepted", TensorMap.tiled(*CUBE, (16, 87, 167)), question="232464 bytes"),
        encoded("228-kib", "accepted", TensorMap.tiled(*CUBE, (256, 228, 4)), question="233472 bytes"),
        encoded("228-kib-and-48", "refused", TensorMap.tiled(*CUBE, (16, 139, 105)), question="233520 bytes"),
        rules=("box_fits_shared_memory", "footprint_past_shared_memory"),
    ),
    fact(
        "box-counted-rounded-down",
        "Against that limit the driver counts box_dim[i] / element_strides[i] rounded down. The engine rounds up.",
        f"{TILED}, elementStrides: rounds up, and gives no limit for the whole box.",
        encoded("7-by-2", "accepted", _strided((256, 256, 7), 2), question="65536 x 7/2: 3 fit, 4 don't"),
        encoded("8-by-2", "refused", _strided((256, 256, 8), 2), question="65536 x 8/2"),
        encoded(
            "7-by-8", "accepted", _strided((256, 256, 256, 7), 8), question="16777216 x 7/8: counted as nothing"
        ),
        rules=("box_fits_shared_memory", "footprint_past_shared_memory"),
    ),
    fact(
        "padding-not-counted",
        "What a swizzle pads a row to does not count against that limit.",
        f"{TILED}, boxDim and swizzle: nothing.",
        encoded(
            "padded-eightfold", "accepted", TensorMap.tiled(*CUBE, (16, 256, 56), swizzle="128B"),
            question="229376 bytes, which stand in 1835008",
        ),
        rules=("footprint_past_shared_memory",),
    ),
    fact(
        "address-of-57-bits",
        "A base address is below 2^57. Nothing need be allocated there.",
        f"{TILED}, globalAddress: asks for 16 bytes of alignment alone.",
        encoded("highest", "accepted", line("float32", 4, 4, address=(1 << 57) - 16), question="2^57 - 16"),
        encoded("too-high", "refused", line("float32", 4, 4, address=1 << 57), question="2^57"),
        rules=("base_address_range",),
    ),
    fact(
        "null-is-an-address",
        "The encoder takes a null base.",
        f"{TILED}, globalAddress: does not mention null.",
        encoded("null", "accepted", line("float32", 4, 4, address=0), question="address 0"),
        rules=("null_global_address",),
    ),
    fact(
        "box-wider-than-tensor",
        "No rule holds the box to the tensor.",
        f"{TILED}, boxDim: 1 to 256, whatever globalDim is.",
        encoded("256-of-4", "accepted", line("float32", 4, 256), question="a box of 256 elements of a tensor of 4"),
        rules=("box_wider_than_tensor",),
    ),
    fact(
        "strides-in-any-order",
        "Strides may fall, be smaller than a row, or be 0.",
        f"{TILED}, globalStrides: each is computed from the one before, and asserted not to be small.",
        encoded("falling", "accepted", TensorMap.tiled("float32", (32, 4, 4), (512, 128), (4, 1, 1)),
                question="512, then 128"),
        encoded("overlapping", "accepted", TensorMap.tiled("float32", (32, 4), (16,), (4, 1)),
                question="16 bytes between rows of 128"),
        encoded("zero", "accepted", TensorMap.tiled("float32", (32, 4), (0,), (4, 1)), question="0"),
    ),
    fact(
        "stride-of-size-1",
        "The stride of a dimension of size 1 is checked, although no copy uses it.",
        f"{TILED}, globalStrides: makes no exception, and asks for none.",
        encoded("20-bytes", "refused", TensorMap.tiled("float32", (32, 1), (20,), (4, 1)), question="stride 20"),
        encoded("16-bytes", "accepted", TensorMap.tiled("float32", (32, 1), (16,), (4, 1)), question="stride 16"),
        rules=("size_1_dimension_stride",),
    ),
    fact(
        "inner-element-stride",
        "Without interleave element_strides[0] must be 1 to 8, and is then ignored.",
        f"{TILED}, elementStrides: says that it is ignored.",
        encoded("9", "refused", line("float32", 64, 16, element_strides=(9,)), question="element_strides[0] = 9"),
        encoded("8", "accepted", line("float32", 64, 16, element_strides=(8,)), question="element_strides[0] = 8"),
        moved("load-8", "00000000 3f800000 40000000 40400000 40800000 40a00000 40c00000 40e00000", "load",
              line("float32", 8, 8, element_strides=(8,)), (0,), memory=FLOATS, memory_bytes=32, smem_bytes=32,
              question="a load of 8 floats with it"),
        rules=("element_stride_range_1_8",),
    ),
    fact(
        "row-of-16-bytes",
        "A row of the box is a multiple of 16 bytes in interleaved and im2col maps too, with 32-byte slices as well.",
        f"{TILED}, boxDim: says so without interleave. {IM2COL}, channelsPerPixel: does not.",
        encoded("interleaved-8", "refused", TensorMap.tiled(*SLICES, (2, 1, 1), interleave="16B"),
                question="interleave 16B, a row of 8 bytes"),
        encoded("interleaved-16", "accepted", TensorMap.tiled(*SLICES, (4, 1, 1), interleave="32B", swizzle="32B"),
                question="interleave 32B, a row of 16 bytes"),
        encoded("im2col-8", "refused", TensorMap.im2col(*SLICES, (0,), (0,), 2, 1), question="im2col, 8 bytes"),
        encoded("im2col-16", "accepted", TensorMap.im2col(*SLICES, (0,), (0,), 4, 1), question="im2col, 16 bytes"),
        rules=("box_inner_bytes_multiple_16",),
    ),
    fact(
        "interleave-32b-swizzle",
        "With interleave 32B any swizzle is taken.",
        f"{TILED}, swizzle: asks for SWIZZLE_32B.",
        *(
            encoded(swizzle, "accepted", TensorMap.tiled(*SLICES, (4, 1, 1), interleave="32B", swizzle=swizzle),
                    question=f"swizzle {swizzle}")
            for swizzle in ("none", "64B", "128B")
        ),
        rules=("interleave_32B_without_swizzle_32B",),
    ),
    fact(
        "packed-types",
        "On sm_90 packed types of 4 and 6 bits are refused.",
        f"{TILED}, tensorDataType: lists them for every device.",
        *(
            encoded(dtype, "refused", TensorMap.tiled(dtype, (256, 128), (192,), (128, 64)), question=dtype)
            for dtype in ("16u4_align8b", "16u4_align16b", "16u6_align16b")
        ),
        rules=("packed_type_needs_sm100",),
    ),
    fact(
        "atom-swizzles",
        "On sm_90 swizzles with atoms of 32 and 64 bytes are refused.",
        f"{TILED}, swizzle: lists them for every device.",
        *(
            encoded(swizzle, "refused", TensorMap.tiled("uint8", (128, 8), (128,), (128, 8), swizzle=swizzle),
                    question=swizzle)
            for swizzle in ("128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
        ),
        rules=("atom_swizzle_needs_sm100",),
    ),
    fact(
        "encoding-needs-a-context",
        "A map is encoded only where a context is current.",
        f"{TILED}: lists INVALID_CONTEXT among its results, and does not say that it needs one.",
        encoded("without", "INVALID_CONTEXT", line("float32", 4, 4), question="no context is current", context=False),
        encoded("with", "accepted", line("float32", 4, 4), question="the worker's context is current"),
    ),
)  # fmt: skip

IM2COL_ENCODER = (
    fact(
        "im2col-counts",
        "An im2col copy takes at least one channel and one pixel.",
        f"{IM2COL}, channelsPerPixel and pixelsPerColumn: gives upper limits alone.",
        encoded("no-channel", "refused", TensorMap.im2col(*SLICES, (0,), (0,), 0, 1), question="no channel"),
        encoded("no-pixel", "refused", TensorMap.im2col(*SLICES, (0,), (0,), 4, 0), question="no pixel"),
        rules=("im2col_counts_ge_1",),
    ),
    fact(
        "im2col-box-of-32-bits",
        "The bounding box is computed in 32 bits: 2^31 positions and more are negative, and 2^32 + 1 are 1.",
        f"{IM2COL}, globalDim: up to 2^32.",
        *(
            encoded(label, answer, TensorMap.im2col("uint8", (16, size, 1), (16, 16), (lower,), (0,), 16, 1),
                    question=f"global_dim[1] = {words}, lower corner {lower}")
            for label, answer, size, lower, words in (
                ("largest", "accepted", (1 << 31) - 1, 0, "2^31 - 1"), ("negative", "refused", 1 << 31, 0, "2^31"),
                ("nothing", "refused", 1 << 32, 0, "2^32"), ("one", "accepted", 1 << 32, -1, "2^32"),
            )
        ),
        rules=("im2col_bounding_box_not_empty",),
    ),
    fact(
        "im2col-interleaved-axes",
        "In an interleaved im2col map W is dimension 0: the first corner belongs to it, and a pixel is one slice.",
        f"{IM2COL}, interleave: names the layout NC/8HWC8, and no order of dimensions.",
        *(
            encoded(label, answer, TensorMap.im2col("float16", dims, (1024, 8192, 65536), (0, 0), (-8, 0), 8, 1,
                                                    interleave="16B"), question=f"global_dim {dims}, 8 fewer along W")
            for label, answer, dims in (
                ("first-has-8", "refused", (8, 64, 1, 1)), ("second-has-8", "accepted", (64, 8, 1, 1)),
            )
        ),
        moved("load", "0008 0009 000a 000b 000c 000d 000e 000f 0010 0011 0012 0013 0014 0015 0016 0017", "load",
              TensorMap.im2col("uint64", (4, 2, 1, 1), (64, 128, 128), (0, 0), (0, 0), 2, 2, interleave="16B"),
              (1, 0, 0, 0), memory=COUNTED, memory_bytes=128, smem_bytes=32, word_bytes=2,
              question="two pixels from W = 1 on, a slice of 16 bytes each"),
        rules=("im2col_bounding_box_not_empty",),
    ),
)  # fmt: skip
