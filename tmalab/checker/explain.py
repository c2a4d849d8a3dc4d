"""The page of one rule: what it says, where it is from, on what it holds, what breaking it raises, an example.

    rules of the model, CHECKER_RULES ──▶ rule_page(id) ──▶ explain(id), the command line's text
                                                        ──▶ the section of the book's page of all rules

>>> print(explain("box_dim_range_1_256").splitlines()[0])
box_dim_range_1_256: A box has 1 to 256 elements in each dimension
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from tmalab.checker.barrier_rules import BARRIER_RULES
from tmalab.checker.rule_examples import EXAMPLES, Example, example
from tmalab.errors import InputError
from tmalab.model.launch_rules import BULK_COPY_RULES, LAUNCH_RULES, LAUNCH_WARNINGS
from tmalab.model.rules import ALLOCATION_WARNINGS, MODE_RULES, RULES, WARNINGS
from tmalab.model.rules.rule import Rule

# What the checker itself says, beside the rules of the encoder and of the engine.
CHECKER_RULES: dict[str, tuple[str, str, str]] = {
    "inner_stride_must_be_1": (
        "The innermost dimension is contiguous",
        "A tensor map has rank-1 strides: dimension 0 has none, and its elements lie side by side. A view whose last "
        "dimension has another stride has no tensor map; one that is built all the same reads the elements in between.",
        "CUDA driver API, cuTensorMapEncodeTiled, globalStrides",
    ),
    "triton_block_shape": (
        "What Triton takes as a block",
        "Each side of a block is a power of two, and it has 2^20 elements at the most. Triton raises an error for any "
        "other before it asks the driver, which takes a box of 96 rows. A block that is wider than its swizzle, or "
        "longer than 256, is legal: Triton copies it as several boxes.",
        "Triton 3.6.0, triton/_utils.py, validate_block_shape; recorded on an H200",
    ),
    "encoded_as_the_driver_writes": (
        "The 128 bytes are those that the driver writes",
        "The driver works two words out from the fields: a box's bytes, and those after which the swizzle repeats. It "
        "leaves 0 what the map's rank has no use for, and every bit of no field. Bytes that differ were damaged or "
        "changed, or another driver wrote them. What the engine makes of them was not measured; nor was whether "
        "tensormap.replace, which changes single fields, keeps the two words.",
        "102 encodings by driver 580.159.04; measured on H200",
    ),
    "expect_tx_equals_delivered": (
        "The barrier expects the bytes that arrive",
        "One load completes its whole box on the mbarrier, elements outside the tensor included. Armed for more, the "
        "phase never completes; armed for fewer, an H200 was seen to hang and to complete early.",
        "PTX ISA, mbarrier, tx-count; measured on H200",
    ),
    "im2col_bounding_box": (
        "The corners of an im2col map fit its convolution",
        "lower = -padding and upper = padding - dilation * (kernel - 1), so that as many window origins are walked as "
        "the output has pixels. Other corners are legal and read other windows.",
        "PTX ISA, Im2col mode",
    ),
    "oob_is_globalDim_only": (
        "Only what lies outside global_dim is filled",
        "Rows that are allocated and not in use are in bounds: the engine reads whatever they hold. Set global_dim to "
        "the live length, or mask.",
        "CUDA driver API, cuTensorMapEncodeTiled, oobFill",
    ),
    "element_stride_ceil": (
        "A strided dimension takes every n-th element",
        "The copy takes ceil(box_dim / element_stride) elements of it, packed densely in shared memory, and counts "
        "those bytes. Without interleave the first dimension is taken whole.",
        "CUDA driver API, cuTensorMapEncodeTiled, elementStrides; measured on H200",
    ),
    "swizzle_phase_follows_address": (
        "The swizzle's phase is the address's, not the slice's",
        "A slice that begins inside a pattern is permuted for a reader that counts rows from the slice. Begin at a "
        "multiple of 8 rows, or carry the row number along.",
        "PTX ISA, Swizzling Modes",
    ),
    "swizzled_row_is_not_linear": (
        "A swizzled row is contiguous only as a whole",
        "The 16-byte chunks of a row are permuted within its span: the bytes after an element's are not the next "
        "element's chunk.",
        "PTX ISA, Swizzling Modes",
    ),
    "bulk_copy_is_linear": (
        "A bulk copy without a tensor map knows no swizzle",
        "cp.async.bulk and cp.reduce.async.bulk move bytes in line. A swizzled tile goes through the tensor form.",
        "PTX ISA, cp.async.bulk",
    ),
    "group_modes_within_rank": (
        "group_modes ends at the last mode",
        "group_modes(first, end) takes the modes from first to the one before end, and end is at most the rank: the "
        "number of outermost modes, a nested mode counting as one. CuTe DSL 4.8.1 refuses another when it compiles.",
        "CuTe DSL 4.8.1, group_modes; compiled",
    ),
    "first_mode_must_be_one_tile": (
        "tma_partition wants one tile in the first mode",
        "After group_modes the first mode of both tensors holds exactly one tile of the atom; stages and further tiles "
        "stand in modes of their own, which are iterated. CuTe DSL 4.8.1 refuses another size when it compiles.",
        "CuTe DSL 4.8.1, tma_partition; compiled",
    ),
    "panel_must_divide_warp_tile": (
        "A warp's columns are whole panels",
        "A tile that is split among warps is copied in panels as wide as the swizzle span. Where a warp's columns end "
        "inside a panel, two warps share its permuted rows. The widest panel that divides a warp's columns is best.",
        "derived from PTX ISA, Swizzling Modes",
    ),
    "load_mode_needs_sm100": (
        "gather4, scatter4 and im2col::w come with sm_100",
        "sm_90 has the tiled and the im2col mode alone; sm_120 has tile::gather4 and im2col::w, sm_100 those and "
        "tile::scatter4 and im2col::w::128.",
        "read in PTX ISA, cp.async.bulk.tensor, Target ISA Notes; not measured",
    ),
    "cute_layout_swizzle_mode": (
        "A CuTe layout is what one swizzle mode writes",
        "Sw<1,4,3>, Sw<2,4,3> and Sw<3,4,3> in bytes are 32B, 64B and 128B; the rows are one span apart and follow one "
        "another without a gap.",
        "PTX ISA, Swizzling Modes; NVIDIA/cutlass copy_traits_sm90_tma_swizzle.hpp",
    ),
    **{
        f"swizzle_{mode}": (
            f"Where the {mode} swizzle puts a chunk",
            "With line the shared address divided by 128, rounded down, the 16-byte chunk that would lie in place c of "
            f"its {mode[:-1]} bytes lies in place c XOR (line mod {lines}). The address is the absolute one, and not "
            "the distance from the tile's start.",
            "PTX ISA, Swizzling Modes; measured on H200",
        )
        for mode, lines in (("32B", 2), ("64B", 4), ("128B", 8))
    },
    **BARRIER_RULES,
}  # fmt: skip


def _rules() -> dict[str, Rule]:
    # An id that a warning and a launch rule share is explained by the launch rule: that is the one that raises.
    known = (RULES, MODE_RULES, WARNINGS, ALLOCATION_WARNINGS, LAUNCH_WARNINGS, BULK_COPY_RULES, LAUNCH_RULES)
    return {rule.id: rule for group in known for rule in group}


def rule_ids() -> list[str]:
    """Every rule that can be explained, in the order of the page of all rules."""
    return [*_rules(), *CHECKER_RULES]


class RulePage(NamedTuple):
    """What there is to say of one rule; `facts` are names and values: the source, what it holds for, what it raises.

    A rule that is new may have no example yet; a test asks for one.
    """

    id: str
    title: str
    text: str
    facts: tuple[tuple[str, str], ...]
    example: Example | None


def rule_page(rule_id: str) -> RulePage:
    """The page of that rule. Raises InputError for an id that is not known, naming those that look like it."""
    rule = _rules().get(rule_id)
    if rule is None and rule_id not in CHECKER_RULES:
        from difflib import get_close_matches

        near = get_close_matches(rule_id[:80], rule_ids(), n=3, cutoff=0.5)
        fix = f"did you mean {' or '.join(near)}?" if near else "tmalab check --explain all lists them"
        raise InputError("unknown rule", field="explain", value=rule_id, fix=fix)
    if rule is None:
        title, text, source = CHECKER_RULES[rule_id]
        facts = [("Source", source), ("Said of", _said_of(rule_id))]
    else:
        title, text = rule.title, rule.explanation.replace("``", "`")
        facts = [("Source", rule.source), ("Holds for", f"{' and '.join(rule.kinds)} maps on {', '.join(rule.arches)}")]
        if rule.cuda_error:
            facts.append(("Raises", f"CUDA_ERROR_{rule.cuda_error}, at the launch and not at the encoding"))
    return RulePage(rule_id, title, text, tuple(facts), example(rule_id) if rule_id in EXAMPLES else None)


def _said_of(rule_id: str) -> str:
    if rule_id == "encoded_as_the_driver_writes":
        return "the bytes of an encoded map"
    return "a barrier program" if rule_id in BARRIER_RULES else "how a tensor map is used"


def explain(rule_id: str, width: int = 88) -> str:
    """The rule's page as text. Raises InputError for an id that is not known, naming those that look like it."""
    page = rule_page(rule_id)
    lines = [f"{rule_id}: {page.title}", "", *textwrap.wrap(page.text, width), ""]
    for name, value in page.facts:
        lines += textwrap.wrap(value, width, initial_indent=f"{name + ':':11}", subsequent_indent=" " * 11)
    if page.example is None:
        return "\n".join(lines).rstrip()
    said = [page.example.message, *([f"Fix: {page.example.fix}"] if page.example.fix else [])]
    lines += ["", "Example:", *page.example.text.splitlines(), ""]
    return "\n".join([*lines, *(line for sentence in said for line in textwrap.wrap(sentence, width))])
