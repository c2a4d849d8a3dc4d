"""Every rule, each with the smallest map that breaks it and the whole of what is said about it."""

import pytest

from tmalab import InputError, TensorMap
from tmalab.model import rules
from tmalab.model.rules import ALLOCATION_WARNINGS, MODE_RULES, RULES, WARNINGS, extent_warnings, mode_violations

MEASURED = "measured on H200, driver 580.159.04, 2026-11-30"


def tiled(dtype="float32", global_dim=(64, 64), global_strides=(256,), box_dim=(16, 16), **fields):
    return TensorMap.tiled(dtype, global_dim, global_strides, box_dim, **fields)


def im2col(
    dtype="float16", global_dim=(64, 8, 8, 2), global_strides=(128, 1024, 8192), lower=(0, 0), upper=(0, 0),
    channels=64, pixels=36, **fields,
):  # fmt: skip
    return TensorMap.im2col(dtype, global_dim, global_strides, lower, upper, channels, pixels, **fields)


def rank_3(dtype="float32", **fields):
    given = {"global_dim": (64, 8, 8), "global_strides": (256, 2048), "box_dim": (16, 2, 2), **fields}
    return tiled(dtype, **given)


# rule: tensor map, field, value, limit, message, fix
BROKEN = {
    "base_address_align_16": (
        tiled(address=4), "address", 4, 16,
        "address=0x4 leaves 4 after division by 16; the base address must be a multiple of 16.",
        "Keep an aligned base and put the offset into the coordinates, or copy without TMA.",
    ),
    "base_address_align_32": (
        rank_3(address=0x7F10, interleave="32B", swizzle="32B"), "address", 0x7F10, 32,
        "address=0x7f10 leaves 16 after division by 32; the base address must be a multiple of 32.",
        "Keep an aligned base and put the offset into the coordinates, or copy without TMA.",
    ),
    "base_address_range": (
        tiled(address=1 << 57), "address", 1 << 57, (1 << 57) - 16,
        "address=144115188075855872; a base address is at least 0 and below 2^57.",
        "Give the address of device memory, or none to leave it open.",
    ),
    "global_dim_range_1_2pow32": (
        tiled(global_dim=(64, (1 << 32) + 1)), "global_dim[1]", (1 << 32) + 1, 1 << 32,
        "global_dim[1]=4294967297; a dimension has 1 to 4294967296 elements.",
        "Use at most 4294967296, and describe the rest with another tensor map.",
    ),
    "global_stride_multiple_16": (
        tiled(global_dim=(1733, 128), global_strides=(6932,)), "global_strides[0]", 6932, 16,
        "global_strides[0]=6932 bytes leaves 4 after division by 16; a stride must be a multiple of 16 bytes.",
        "Pad it to 6944 bytes (1736 float32 elements), or copy without TMA.",
    ),
    "global_stride_multiple_32": (
        rank_3(global_strides=(272, 2176), interleave="32B"), "global_strides[0]", 272, 32,
        "global_strides[0]=272 bytes leaves 16 after division by 32; a stride must be a multiple of 32 bytes.",
        "Pad it to 288 bytes (72 float32 elements), or copy without TMA.",
    ),
    "global_stride_range_0_2pow40": (
        tiled(global_strides=(1 << 40,)), "global_strides[0]", 1 << 40, (1 << 40) - 16,
        "global_strides[0]=1099511627776 bytes; a stride is at least 0 and below 2^40 bytes.",
        "Use at most 1099511627760, or move the base address between copies.",
    ),
    "element_stride_range_1_8": (
        tiled(element_strides=(1, 9)), "element_strides[1]", 9, 8,
        "element_strides[1]=9; an element stride is 1 to 8.", "Use 1 to 8.",
    ),
    "nan_fill_needs_float_dtype": (
        tiled("int32", oob_fill="nan"), "oob_fill", "nan", "none",
        "oob_fill=nan with int32 elements; NaN fill needs a floating-point type.",
        "Use oob_fill none, or describe the elements as float32.",
    ),
    "rank_range_1_5": (
        tiled(global_dim=(64,) * 6, global_strides=(256,) * 5, box_dim=(4,) * 6), "rank", 6, 5,
        "rank=6; a tiled tensor map has 1 to 5 dimensions.", "Merge neighbouring dimensions until five are left.",
    ),
    "interleave_needs_rank_3": (
        tiled(interleave="16B"), "rank", 2, 3,
        "rank=2 with interleave 16B; an interleaved map has at least 3 dimensions.",
        "Use interleave none, or add dimensions of size 1.",
    ),
    "box_dim_range_1_256": (
        tiled(box_dim=(16, 512)), "box_dim[1]", 512, 256,
        "box_dim[1]=512; a box has at most 256 elements in a dimension.", "Use 256 and issue two copies.",
    ),
    "im2col_rank_range_3_5": (
        im2col(global_dim=(64, 8), global_strides=(128,), lower=(), upper=()), "rank", 2, 3,
        "rank=2; an im2col tensor map has 3 to 5 dimensions.", "Add dimensions of size 1.",
    ),
    "im2col_channels_le_256": (
        im2col("uint8", channels=512), "channels_per_pixel", 512, 256,
        "channels_per_pixel=512; one im2col copy takes 1 to 256.", "Use 256 and issue two copies.",
    ),
    "im2col_pixels_le_1024": (
        im2col(pixels=2048, channels=8), "pixels_per_column", 2048, 1024,
        "pixels_per_column=2048; one im2col copy takes 1 to 1024.", "Use 1024 and issue two copies.",
    ),
    "im2col_counts_ge_1": (
        im2col(pixels=0), "pixels_per_column", 0, 1,
        "pixels_per_column=0; one im2col copy takes at least 1.", "Use at least 1.",
    ),
    "im2col_corner_range": (
        im2col(lower=(-129, 0)), "lower_corner[0]", -129, -128,
        "lower_corner[0]=-129; with rank 4 a corner lies in -128 to 127.",
        "Use -128 to 127, or move the coordinates instead.",
    ),
    "im2col_bounding_box_not_empty": (
        im2col(lower=(0, 2), upper=(0, -7)), "upper_corner[1]", -1, 1,
        "lower_corner[1]=2 and upper_corner[1]=-7 leave -1 of the 8 positions in global_dim[2]; "
        "a bounding box has 1 or more.",
        "Use an upper corner of at least -5; for a convolution it is padding - dilation * (kernel - 1).",
    ),
    "box_inner_bytes_multiple_16": (
        tiled(box_dim=(1, 16)), "box_dim[0]", 4, 16,
        "box_dim[0]=1 float32 element is 4 bytes; a row of the box must be a multiple of 16 bytes.",
        "Use a multiple of 4 elements.",
    ),
    "box_inner_le_swizzle_span": (
        tiled("bfloat16", box_dim=(96, 16), swizzle="128B"), "box_dim[0]", 192, 128,
        "box_dim[0]=96 bfloat16 elements is 192 bytes; SWIZZLE_128B allows 128.",
        "Use at most 64, or split the row into two boxes.",
    ),
    "box_fits_shared_memory": (
        tiled(global_dim=(256, 256), global_strides=(1024,), box_dim=(256, 256)), "box_dim", 262144, 233472,
        "A box of 256x256 float32 elements is 262144 bytes; the driver takes at most 233472.",
        "Split it into two boxes or more.",
    ),
    "packed_type_needs_sm100": (
        tiled("16u4_align8b", box_dim=(64, 16)), "dtype", "16u4_align8b", "sm_100",
        "dtype=16u4_align8b; packed 4-bit and 6-bit types need sm_100 or later.",
        "On sm_90 describe the bytes as uint8, and unpack them in the kernel.",
    ),
    "atom_swizzle_needs_sm100": (
        tiled(swizzle="128B_ATOM_64B"), "swizzle", "128B_ATOM_64B", "sm_100",
        "swizzle=128B_ATOM_64B; swizzle atoms of 32 and 64 bytes need sm_100 or later.",
        "On sm_90 use SWIZZLE_128B, whose atom is 16 bytes.",
    ),
}  # fmt: skip


def padded(dtype="16u4_align16b", **fields):
    given = {"global_dim": (256, 64), "global_strides": (192,), "box_dim": (128, 16), **fields}
    return tiled(dtype, **given)


# The rules that only the manuals tell, on sm_100.
BROKEN_ON_SM_100 = {
    "interleave_32B_needs_swizzle_32B": (
        rank_3(interleave="32B", swizzle="64B"), "swizzle", "64B", "32B",
        "swizzle=64B with interleave 32B; the manual allows SWIZZLE_32B only.", "Use SWIZZLE_32B, or interleave 16B.",
    ),
    "packed_global_dim_multiple": (
        padded(global_dim=(200, 64)), "global_dim[0]", 200, 128,
        "global_dim[0]=200 16u4_align16b values; it must be a multiple of 128.",
        "Pad the row, and count single values and not bytes.",
    ),
    "packed_row_is_128_values": (
        padded(box_dim=(64, 16)), "box_dim[0]", 64, 128,
        "box_dim[0]=64 16u4_align16b values; a row of this type has 128.",
        "Use 128, or 16u4_align8b where 4-bit values need no padding.",
    ),
    "packed_swizzle_modes": (
        padded(swizzle="64B"), "swizzle", "64B", "none, 128B, 128B_ATOM_32B",
        "swizzle=64B with 16u4_align16b values; the manual allows none, 128B, 128B_ATOM_32B.",
        "Use SWIZZLE_128B or none.",
    ),
    "packed_16u6_needs_no_interleave": (
        padded("16u6_align16b", global_dim=(256, 8, 8), global_strides=(192, 1536), box_dim=(128, 2, 2),
               interleave="16B"),
        "interleave", "16B", "none", "interleave=16B with 16u6_align16b values; the manual allows none only.",
        "Use interleave none.",
    ),
}  # fmt: skip

BROKEN_IN_A_MODE = {
    "gather4_needs_rank_2": (
        "tile::gather4", rank_3(), "rank", 3, 2, "rank=3; gather4 and scatter4 take rank 2.",
        "Merge the outer dimensions.",
    ),
    "gather4_box_is_one_row": (
        "tile::scatter4", tiled(box_dim=(16, 4)), "box_dim[1]", 4, 1,
        "box_dim[1]=4; the box of gather4 and scatter4 is one row, taken four times.", "Use box_dim[1]=1.",
    ),
    "gather4_needs_no_interleave": (
        "tile::gather4", rank_3(interleave="16B"), "interleave", "16B", "none",
        "interleave=16B; gather4 and scatter4 take none.", "Use interleave none.",
    ),
    "im2col_w_needs_no_interleave": (
        "im2col::w", im2col(interleave="16B", swizzle="128B"), "interleave", "16B", "none",
        "interleave=16B; im2col::w takes none.", "Use interleave none.",
    ),
    "im2col_w_swizzle_modes": (
        "im2col::w", im2col(swizzle="none"), "swizzle", "none", "64B, 128B, 128B_ATOM_32B",
        "swizzle=none; im2col::w takes 64B, 128B, 128B_ATOM_32B.", "Use SWIZZLE_128B.",
    ),
    "im2col_w_corner_range": (
        "im2col::w", im2col(lower=(0, -1), swizzle="128B"), "lower_corner[1]", -1, 0,
        "lower_corner[1]=-1; in im2col::w it is 0: the box spans one position there.", "Move the coordinates instead.",
    ),
    "im2col_w_bounding_box_not_empty": (
        "im2col::w::128", im2col(upper=(-8, 0), swizzle="128B"), "upper_corner[0]", 0, 1,
        "lower_corner[0]=0 and upper_corner[0]=-8 leave 0 positions along W; the bounding box needs at least 1.",
        "Use an upper corner of at least -7.",
    ),
}  # fmt: skip

UNWISE = {
    "null_global_address": (
        tiled(address=0), "address", 0, None, "address=0; the encoder takes a null base, and a copy through it faults.",
        "Encode with the tensor's address, or patch the map with cuTensorMapReplaceAddress before it is used.",
    ),
    "box_wider_than_tensor": (
        TensorMap.tiled("float32", (40,), (), (64,)), "box_dim[0]", 64, 40,
        "box_dim[0]=64 is wider than global_dim[0]=40; the 24 past the tensor are filled on a load and dropped on a "
        "store.",
        "Use a narrower box; these bytes cost shared memory, and a load's barrier counts them.",
    ),
    "size_1_dimension_stride": (
        tiled(global_dim=(64, 64, 1), global_strides=(256, 48), box_dim=(16, 16, 1)), "global_strides[1]", 48, None,
        "global_strides[1]=48 belongs to global_dim[2]=1; the driver checks it, and no copy uses it.",
        "Leave the dimension out, or compute the stride instead of taking it from the array.",
    ),
    "strides_overlap": (
        tiled(global_strides=(128,)), "global_strides[0]", 128, 256,
        "global_strides[0]=128 bytes is less than the 256 bytes that lie within it; rows overlap.",
        "Use at least 256, or store through another tensor map.",
    ),
    "swizzled_row_is_padded": (
        tiled(box_dim=(4, 16), swizzle="128B"), "box_dim[0]", 16, 128,
        "box_dim[0]=4 float32 elements is 16 bytes; SWIZZLE_128B keeps a pitch of 128 bytes in shared memory, and 112 "
        "of them are never written.",
        "Use 32, or a narrower swizzle.",
    ),
    "interleave_32B_without_swizzle_32B": (
        rank_3(interleave="32B"), "swizzle", "none", "32B",
        "swizzle=none with interleave 32B; the manual allows SWIZZLE_32B only, and the driver on sm_90 does not ask.",
        "Use SWIZZLE_32B.",
    ),
    "inner_element_stride_ignored": (
        tiled(element_strides=(2, 1)), "element_strides[0]", 2, 1,
        "element_strides[0]=2 has no effect; without interleave a row is taken whole.",
        "Use 1, and thin the row out when it is read from shared memory.",
    ),
    "footprint_past_shared_memory": (
        # Two rows at a stride of three: the encoder counts 2 // 3 = 0 of them, the engine takes one.
        tiled(global_dim=(256, 8, 512), global_strides=(1024, 8192), box_dim=(256, 2, 255), element_strides=(1, 3, 1)),
        "box_dim", 261120, 232448,
        "The box stands in 261120 bytes of shared memory; a block has at most 232448, and the encoder counts fewer.",
        "Use a smaller box.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", BROKEN)
def test_violation_says_all_of_it(rule):
    tensor_map, *said = BROKEN[rule]
    [found] = tensor_map.violations()
    assert [found.rule, found.field, found.value, found.limit, found.message, found.fix] == [rule, *said]


@pytest.mark.parametrize("rule", BROKEN_ON_SM_100)
def test_rule_that_was_read_and_not_measured(rule):
    tensor_map, *said = BROKEN_ON_SM_100[rule]
    [found] = tensor_map.violations("sm_100")
    assert [found.rule, found.field, found.value, found.limit, found.message, found.fix] == [rule, *said]
    assert found.source.startswith("read in CUDA driver API")
    assert found.source.endswith("; not measured on sm_100")
    assert rule not in [violation.rule for violation in tensor_map.violations("sm_90")]


@pytest.mark.parametrize("rule", BROKEN_IN_A_MODE)
def test_rule_of_a_load_mode(rule):
    mode, tensor_map, *said = BROKEN_IN_A_MODE[rule]
    [found] = [found for found in mode_violations(tensor_map, mode) if found.rule == rule]
    assert [found.field, found.value, found.limit, found.message, found.fix] == said
    assert found.source.endswith("; not measured on sm_100")


@pytest.mark.parametrize("rule", UNWISE)
def test_warning_says_all_of_it_and_is_no_violation(rule):
    tensor_map, *said = UNWISE[rule]
    assert tensor_map.violations() == []
    [found] = tensor_map.warnings()
    assert [found.rule, found.field, found.value, found.limit, found.message, found.fix] == [rule, *said]


@pytest.mark.parametrize(
    ("tensor_map", "footprint"),
    [
        (tiled(global_dim=(64, 64, 64), global_strides=(256, 16384), box_dim=(4, 64, 32), swizzle="128B"), 262144),
        (
            tiled("uint8", global_dim=(64, 64, 64), global_strides=(64, 4096), box_dim=(64, 8, 256), interleave="16B"),
            262144,
        ),
        (tiled(global_dim=(64, 64, 64), global_strides=(256, 16384), box_dim=(4, 64, 28), swizzle="128B"), None),
    ],
    ids=["rows padded by the swizzle", "slices of an interleaved row", "padded rows that fit"],
)
def test_footprint_that_the_encoder_does_not_count(tensor_map, footprint):
    assert tensor_map.violations() == []
    found = [found.value for found in tensor_map.warnings() if found.rule == "footprint_past_shared_memory"]
    assert found == ([footprint] if footprint else [])


def test_extent_past_the_allocation():
    """Case D33: rows rounded up to 288 columns reach past 3076 bytes of storage."""
    tensor_map = tiled(global_dim=(288, 2), global_strides=(2048,), box_dim=(32, 2), swizzle="128B")
    assert tensor_map.violations() == tensor_map.warnings() == []
    [found] = extent_warnings(tensor_map, 3076)
    assert (found.rule, found.field, found.value) == ("descriptor_extent_exceeds_allocation", "global_dim", 3199)
    assert found.message == (
        "The tensor's last byte is 3199; the allocation has 3076 bytes, and fill protects only what lies outside "
        "global_dim."
    )
    assert found.fix == "Declare global_dim[0]=257, or allocate 3200 bytes."
    assert extent_warnings(tensor_map, 3200) == []
    [largest] = extent_warnings(tiled("uint8", (1 << 32,), (), (16,)), (1 << 32) - 1)
    assert largest.fix == "Declare global_dim[0]=4294967295, or allocate 4294967296 bytes."
    assert [found.value for found in extent_warnings(tiled(global_strides=(0,)), 255)] == [255]  # one row, 64 times
    assert extent_warnings(tiled(global_dim=(0, 64)), 0) == []  # no tensor at all: the violations say so
    with pytest.raises(InputError, match="storage_bytes"):
        extent_warnings(tensor_map, "3200")


def test_an_empty_tensor_is_no_narrow_one():
    assert TensorMap.tiled("float32", (0,), (), (64,)).warnings() == []


def test_every_rule_has_its_test():
    assert [rule.id for rule in RULES if "sm_90" in rule.arches] == list(BROKEN)
    assert [rule.id for rule in RULES if "sm_90" not in rule.arches] == list(BROKEN_ON_SM_100)
    assert [rule.id for rule in MODE_RULES] == list(BROKEN_IN_A_MODE)
    assert [rule.id for rule in WARNINGS] == list(UNWISE)
    assert [rule.id for rule in ALLOCATION_WARNINGS] == ["descriptor_extent_exceeds_allocation"]


@pytest.mark.parametrize("rule", [*RULES, *MODE_RULES, *WARNINGS, *ALLOCATION_WARNINGS], ids=lambda rule: rule.id)
def test_every_rule_can_be_printed_on_a_page(rule):
    assert rule.title[0].isupper() or rule.title[0].isdigit() or rule.title.startswith(("gather4", "im2col"))
    assert rule.explanation.endswith(".")
    assert rule.written or rule.measured == MEASURED or MEASURED in rule.measured
    assert rule.source


def test_rule_ids_are_unique():
    ids = [rule.id for rule in (*RULES, *MODE_RULES)]
    assert len(ids) == len(set(ids))


# --- Several at once, and what does not follow ------------------------------------------------------------------------


def rules_broken(tensor_map, arch="sm_90"):
    return [found.rule for found in tensor_map.violations(arch)]


def test_all_are_found_and_not_only_the_first():
    tensor_map = tiled(
        "int32", (0, 64), (20,), (10, 300), element_strides=(9, 0), swizzle="32B", oob_fill="nan", address=8
    )
    assert rules_broken(tensor_map) == [
        "base_address_align_16",
        "global_dim_range_1_2pow32",
        "global_stride_multiple_16",
        "element_stride_range_1_8",
        "element_stride_range_1_8",
        "nan_fill_needs_float_dtype",
        "box_dim_range_1_256",
        "box_inner_bytes_multiple_16",
        "box_inner_le_swizzle_span",
    ]


def test_a_box_that_is_too_large_only_because_one_dimension_is_breaks_one_rule():
    assert rules_broken(tiled("uint8", box_dim=(16, 1 << 20))) == ["box_dim_range_1_256"]
    assert rules_broken(
        tiled("uint8", box_dim=(256, 1 << 20, 256), global_dim=(64,) * 3, global_strides=(64, 4096))
    ) == [
        "box_dim_range_1_256",
        "box_fits_shared_memory",
    ]


def test_an_empty_tensor_has_no_empty_bounding_box_besides():
    assert rules_broken(im2col(global_dim=(64, 0, 8, 2))) == ["global_dim_range_1_2pow32"]


def test_a_corner_out_of_range_leaves_the_bounding_box_to_the_nearest_one_in_range():
    wide = im2col(global_dim=(64, 512, 8, 2), global_strides=(128, 65536, 524288), lower=(1000, 0))
    assert rules_broken(wide) == ["im2col_corner_range"]
    assert rules_broken(im2col(lower=(1000, 0))) == ["im2col_corner_range", "im2col_bounding_box_not_empty"]


def test_a_packed_type_on_sm_90_breaks_no_rule_of_sizes_besides():
    assert rules_broken(tiled("16u6_align16b", box_dim=(7, 16), swizzle="32B")) == ["packed_type_needs_sm100"]


@pytest.mark.parametrize(
    ("tensor_map", "fix"),
    [
        (tiled(global_strides=(64,)), None),
        (tiled("float16", global_dim=(72, 64), global_strides=(72,)),
         "If 72 counts elements, give 144: strides are in bytes."),
        (tiled(global_strides=(1,)), "Leave the stride of dimension 0 out: it is one element, and strides are in bytes "
                                     "from dimension 1 on."),
        (tiled(global_dim=(64, 1), global_strides=(20,), box_dim=(16, 1)),
         "Dimension 1 has size 1, so its stride is never used: give any multiple of 16."),
        (tiled(global_strides=(-256,)),
         "Copy the view so that its rows go upwards, or describe it unreversed and reverse the coordinates."),
    ],
)  # fmt: skip
def test_the_fix_of_a_stride_names_what_was_meant(tensor_map, fix):
    assert [found.fix for found in tensor_map.violations()] == ([fix] if fix else [])


@pytest.mark.parametrize(
    ("swizzle", "fix"),
    [
        ("32B", "Use at most 8, or split the row into two boxes, or use SWIZZLE_64B."),
        ("64B", None),
        ("128B", None),
        ("none", None),
    ],
)
def test_a_row_that_is_wider_than_the_swizzle_span(swizzle, fix):
    assert [found.fix for found in tiled(swizzle=swizzle).violations()] == ([fix] if fix else [])


# --- What only the hardware told -------------------------------------------------------------------------------------


def test_interleaved_rows_may_be_wider_than_the_swizzle_span():
    assert rules_broken(rank_3(interleave="16B", swizzle="32B", box_dim=(64, 2, 2))) == []


def test_interleave_32_asks_for_rows_of_16_bytes():
    assert rules_broken(rank_3(interleave="32B", swizzle="32B", box_dim=(4, 2, 2))) == []
    assert rules_broken(rank_3(interleave="32B", swizzle="32B", box_dim=(2, 2, 2))) == ["box_inner_bytes_multiple_16"]


def test_the_first_element_stride_is_checked_without_interleave_too_on_sm_90_only():
    [found] = tiled(element_strides=(9, 1)).violations()
    assert found.fix == "Use 1: the engine ignores the first one, the driver does not."
    assert MEASURED in found.source
    assert tiled(element_strides=(9, 1)).violations("sm_100") == []


def test_w_is_dimension_0_in_an_interleaved_layout():
    # An upper corner of -4 leaves nothing of 4 positions; interleaved they are dimension 0, of which there are 64.
    image = {"global_dim": (64, 4, 8, 2), "global_strides": (128, 512, 4096), "upper": (-4, 0), "pixels": 8}
    assert rules_broken(im2col(**image)) == ["im2col_bounding_box_not_empty"]
    assert rules_broken(im2col(**image, interleave="16B")) == []
    [found] = im2col(**{**image, "global_dim": (4, 64, 8, 2)}, channels=8, interleave="16B").violations()
    assert found.message.endswith("leave 0 of the 4 positions in global_dim[0]; a bounding box has 1 or more.")


@pytest.mark.parametrize(
    ("size", "lower", "legal"), [((1 << 31) - 1, 0, True), (1 << 31, 0, False), (1 << 32, -1, True)]
)
def test_a_bounding_box_is_computed_in_32_bits_on_sm_90(size, lower, legal):
    wide = im2col(global_dim=(64, size, 8, 2), lower=(lower, 0))
    assert rules_broken(wide) == ([] if legal else ["im2col_bounding_box_not_empty"])
    assert rules_broken(wide, "sm_100") == []
    for found in wide.violations():
        assert found.message == (
            "lower_corner[0]=0 and upper_corner[0]=0 leave -2147483648 of the 2147483648 positions in global_dim[1]; "
            "a bounding box has 1 or more, and fewer than 2^31."
        )
        assert found.fix == "Use a tensor of fewer than 2^31 elements along this axis."


def test_a_box_may_be_228_kib():
    assert rules_broken(tiled("uint8", (256,) * 3, (256, 65536), (256, 228, 4))) == []
    [found] = tiled("uint8", (256,) * 3, (256, 65536), (16, 139, 105)).violations()
    assert (found.rule, found.value) == ("box_fits_shared_memory", 233520)


@pytest.mark.parametrize(("address", "legal"), [(0, True), (1 << 56, True), ((1 << 57) - 16, True), (-16, False)])
def test_an_address_need_not_exist(address, legal):
    assert rules_broken(tiled(address=address)) == ([] if legal else ["base_address_range"])
    assert rules_broken(tiled(address=1 << 60), "sm_100") == []


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_interleave_32_goes_with_every_swizzle_on_sm_90(swizzle):
    assert rules_broken(rank_3(interleave="32B", swizzle=swizzle)) == []


# --- Architectures and modes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["sm_100", "sm_120", "sm_100a", "sm_120f"])
def test_what_sm_100_adds_is_taken_there(arch):
    assert tiled("16u4_align8b", (256, 128), (128,), (128, 64)).violations(arch) == []
    assert padded("16u6_align16b", swizzle="128B_ATOM_64B").violations(arch) == []
    assert tiled(swizzle="128B_ATOM_32B").violations(arch) == []


def test_a_padded_packed_type_needs_32_bytes():
    found = padded(global_strides=(144,), address=0x110).violations("sm_100")
    assert [violation.rule for violation in found] == ["base_address_align_32", "global_stride_multiple_32"]


def test_a_packed_stride_is_padded_in_bytes_alone():
    [found] = tiled("16u4_align8b", (256, 64), (200,), (64, 16)).violations("sm_100")
    assert found.fix == "Pad it to 208 bytes, or copy without TMA."


def test_packed_rows_of_16_bytes():
    [found] = tiled("16u4_align8b", box_dim=(24, 16)).violations("sm_100")
    assert (
        found.message
        == "box_dim[0]=24 16u4_align8b elements is 12 bytes; a row of the box must be a multiple of 16 bytes."
    )
    assert found.fix == "Use a multiple of 32 elements."


@pytest.mark.parametrize("arch", ["sm_80", "", "hopper", None, 90, ["sm_90"], "sm_90" * 10_000])
def test_an_unknown_architecture_names_the_known_ones(arch):
    with pytest.raises(InputError, match="use one of sm_90, sm_100, sm_120") as caught:
        tiled().violations(arch)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("mode", "arch", "supported"),
    [
        ("tile::gather4", "sm_90", False),
        ("tile::gather4", "sm_100", True),
        ("tile::gather4", "sm_120", True),
        ("tile::scatter4", "sm_120", False),
    ],
)
def test_which_architecture_has_which_mode(mode, arch, supported):
    found = mode_violations(tiled(box_dim=(16, 1)), mode, arch)
    assert [violation.rule for violation in found] == ([] if supported else ["load_mode_needs_sm100"])


def test_a_wide_mode_has_corners_of_its_own():
    wide = im2col(global_dim=(64, 512, 8, 2), global_strides=(128, 65536, 524288), lower=(-200, 0), swizzle="128B")
    assert rules_broken(wide, "sm_100") == ["im2col_corner_range"]
    assert mode_violations(wide, "im2col::w") == []


def test_w128_ignores_the_pixels():
    many = im2col(pixels=5000, swizzle="128B")
    assert [found.rule for found in mode_violations(many, "im2col::w")] == ["im2col_pixels_le_1024"]
    assert mode_violations(many, "im2col::w::128") == []


def test_a_mode_that_is_not_one_or_not_of_this_map():
    with pytest.raises(InputError, match="use one of tile::gather4"):
        mode_violations(tiled(), "gather")
    with pytest.raises(InputError, match=r"build it with TensorMap\.im2col"):
        mode_violations(tiled(), "im2col::w")


def test_rules_are_reported_in_the_order_of_the_registry():
    order = [rule.id for rule in rules.RULES]
    found = rules_broken(tiled("int32", (0, 64), (20,), (300, 300), oob_fill="nan", address=8, swizzle="128B_ATOM_32B"))
    assert found == sorted(found, key=order.index)
