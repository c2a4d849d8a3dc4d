"""The gallery's entries, by what an engineer sees first: it hangs, the bytes are wrong, it is refused.

>>> [group for group in GROUPS]
['It hangs', 'It completes with wrong bytes', 'The driver or the GPU refuses']
>>> entry("wait-skipped").title
'The wait is skipped'
"""

from __future__ import annotations

from tmalab.errors import InputError
from tmalab.experiment.gallery_cases import HANGS, NAMES, REFUSED, WRONG_BYTES
from tmalab.gallery.broken_kernel import Entry

_ENTRIES = (
    Entry(
        "expect-too-many", "Too many bytes expected",
        "The wait never returns, although every byte of the tile is there.",
        ("tile-ai/tilelang#2644", "tile-ai/tilelang#2107"),
    ),
    Entry(
        "expect-too-few", "Too few bytes expected",
        "The wait never returns, although more bytes came than it asked for.",
        (),
        "The count has to be zero at the moment when a piece lands. Here it steps from 16 to less than nothing.",
    ),
    Entry(
        "expect-one-of-two", "Two loads, armed for one",
        "Sometimes right, sometimes half a tile is old, sometimes it hangs.",
        ("flashinfer-ai/flashinfer-bench#183",),
    ),
    Entry(
        "outside-rows-not-counted", "Rows outside the tensor not counted",
        "Hangs or goes wrong at the last tile only: where the box reaches past the tensor.",
        ("NVIDIA/cutlass#2944",),
        "A box is counted in full wherever it lies. What is outside is written too, as zeros.",
    ),
    Entry(
        "arrive-missing", "Bytes announced, nobody arrives",
        "The wait never returns; all bytes arrived.",
    ),
    Entry(
        "arrived-twice", "One arrival too many",
        "The launch dies with a launch failure that names no line.",
    ),
    Entry(
        "count-too-high", "A count of 32, and one arrival",
        "The wait never returns; all bytes arrived, and one thread did arrive.",
    ),
    Entry(
        "load-by-all-lanes", "The copy is issued by all 32 lanes",
        "It hangs, or the next tiles are wrong.",
        ("NVIDIA/cutlass#2701",),
    ),
    Entry(
        "elected-in-every-warp", "elect.sync in two warps",
        "With one warp it works. With two the launch dies with a launch failure that names no line.",
    ),
    Entry(
        "consumer-never-arrives", "The consumer's signal is given by thread 0",
        "One tile goes through the pipeline, then producer and consumer wait for each other.",
        ("NVIDIA/cutlass#2418",),
    ),
    Entry(
        "roles-disagree-on-tiles", "The consumer skips tiles, the producer does not",
        "Hangs for some problem sizes only: those with empty tiles.",
        ("xlite-dev/ffpa-attn#298",),
    ),
    Entry(
        "peer-not-armed", "The cluster's other block has not armed",
        "With multicast one of two blocks never gets on.",
        ("facebookexperimental/triton#908",),
    ),
    Entry(
        "parity-wrong", "The wrong parity",
        "The wait returns at once, and the tile holds what was there before.",
        ("triton-lang/triton#11303",),
    ),
    Entry(
        "parity-from-loop-index", "Parity taken from the loop's index",
        "Right with one stage; with two or more, some tiles are old.",
        ("tile-ai/tilelang#3087", "tile-ai/tilelang#2927"),
    ),
    Entry(
        "wait-skipped", "The wait is skipped",
        "The tile holds what was there before; with a debugger or a print in between it is right.",
    ),
    Entry(
        "rearmed-before-consumed", "Loaded again before it was read",
        "Tiles are mixed with later ones, more so for large problems; at times it hangs.",
        ("inclusionAI/humming#56",),
    ),
    Entry(
        "init-not-fenced", "No fence after the barrier's init",
        "Perhaps nothing. The engine may use a barrier that it does not see initialised yet.",
        ("facebookexperimental/triton#1240", "MoonshotAI/FlashKDA#24"),
        "PTX asks for fence.mbarrier_init or a proxy fence. Where it was left out, we saw no failure on this card.",
    ),
    Entry(
        "store-not-fenced", "No proxy fence before a store",
        "Perhaps nothing, perhaps a few old bytes in the output, now and then.",
        ("MoonshotAI/FlashKDA#24", "NVIDIA/Fuser#1967"),
        "A barrier orders threads. What an ordinary write left is for the engine to see only after the fence: in "
        "NVIDIA/Fuser#1967 wrong results went away with it.",
    ),
    Entry(
        "store-fenced-by-issuer", "The proxy fence by the issuing thread only",
        "Nothing was seen. Libraries fence in every writer.",
        ("NVIDIA/Fuser#4814",),
    ),
    Entry(
        "store-fenced-after-barrier", "The proxy fence behind the block's barrier",
        "Nothing was seen. Some writers may fence only after the store has begun.",
        ("NVIDIA/Fuser#4814",),
    ),
    Entry(
        "store-fenced-after-it", "The proxy fence behind the store",
        "Perhaps nothing, perhaps a few old bytes in the output, now and then.",
        ("facebookexperimental/triton#368",),
    ),
    Entry(
        "store-before-all-wrote", "No block barrier before a store",
        "Parts of the output are old, those that other warps wrote.",
    ),
    Entry(
        "buffer-reused-too-early", "Buffer reused before the store has read it",
        "The output holds what was written into the buffer afterwards.",
        ("deepseek-ai/DeepEP#657",),
    ),
    Entry(
        "group-waits-one-short", "wait_group 1 where 0 is needed",
        "The last part of the output holds what was written afterwards.",
        ("deepseek-ai/DeepEP#657",),
    ),
    Entry(
        "wait-by-another-thread", "wait_group in a thread that committed nothing",
        "The wait returns at once, and the output holds what was written afterwards.",
    ),
    Entry(
        "wait-of-cp-async", "cp.async's commit and wait used for a TMA store",
        "The wait returns at once, and the output holds what was written afterwards.",
        (),
        "cp.async and cp.async.bulk have groups of their own, whose names differ by one word.",
    ),
    Entry(
        "flag-after-read-wait", "A flag raised after wait_group.read",
        "Perhaps nothing, perhaps another block reads old data behind a flag that says ready.",
        ("triton-lang/triton#10415",),
    ),
    Entry(
        "block-ends-before-store", "The block ends with its store in flight",
        "Nothing was seen. Shared memory has to live until the engine has read it.",
        ("NVIDIA/cutlass#2002",),
    ),
    Entry(
        "descriptor-stale", "A descriptor written anew, without its fence",
        "Loads come from the tensor that the descriptor named before.",
        ("triton-lang/triton#4498", "NVlabs/cuda-oxide#1223"),
    ),
    Entry(
        "descriptor-rewritten-in-flight", "A descriptor overwritten while a load uses it",
        "Grouped kernels mix the data of two groups now and then.",
        ("deepseek-ai/DeepGEMM#343",),
    ),
    Entry(
        "swizzle-read-from-tile-start", "A swizzled tile at +128, read as if at 0",
        "Every 16-byte chunk is there, in the wrong place, since another buffer stands in front.",
        ("cloudrift-ai/emmy#200", "NVIDIA/Fuser#4096", "jax-ml/jax#34102"),
    ),
    Entry(
        "box-past-the-tensor", "A map rounded up to whole boxes",
        "The tensor is right, and what lies behind it is overwritten.",
        ("deepseek-ai/DeepSelect#5", "deepseek-ai/FlashMLA#61"),
    ),
    Entry(
        "peer-has-left", "A block ends while its peer still writes to it",
        "The launch dies with a launch failure that names no line.",
        ("triton-lang/triton#11731", "facebookexperimental/triton#1105"),
    ),
    Entry(
        "inner-coordinate-off", "An inner coordinate between 16-byte steps",
        "The launch dies with an illegal instruction.",
        ("tile-ai/tilelang#2527", "NVIDIA/cuda-samples#214", "triton-lang/triton#8657"),
    ),
    Entry(
        "store-at-negative-row", "A store at a negative row",
        "The launch dies with an illegal instruction; the same coordinates load.",
    ),
    Entry(
        "shared-destination-off", "A shared destination off 128 bytes",
        "The launch dies with a misaligned address, for some tile shapes only.",
        ("inclusionAI/humming#21", "cloudrift-ai/emmy#176", "tile-ai/tilelang#2528", "NVIDIA/cutlass#2365"),
    ),
    Entry(
        "barrier-misaligned", "A barrier object off 8 bytes",
        "The launch dies with a misaligned address.",
    ),
    Entry(
        "barrier-never-initialised", "A barrier that was never initialised",
        "The launch dies with a launch failure that names no line.",
        ("NVIDIA/cutlass#2364",),
    ),
    Entry(
        "descriptor-on-the-stack", "A descriptor on the stack",
        "The launch dies with an illegal address, although the map is right.",
        ("NVIDIA/cutlass#2081",),
    ),
    Entry(
        "reduction-type-lacks-op", "An operation that the type does not have",
        "The launch dies with an illegal instruction.",
        ("tile-ai/tilelang#2583",),
    ),
    Entry(
        "box-of-512-rows", "A box of 512 rows",
        "cuTensorMapEncodeTiled answers INVALID_VALUE and says no more.",
        ("triton-lang/triton#6776", "Ratbuyer/h100-features#1"),
    ),
    Entry(
        "row-pitch-off", "A row pitch that is no multiple of 16 bytes",
        "cuTensorMapEncodeTiled answers INVALID_VALUE, for some widths only.",
        ("tile-ai/tilelang#1931", "tile-ai/tilelang#460", "triton-lang/triton#10931", "NVIDIA/cutlass#2283"),
    ),
    Entry(
        "box-wider-than-the-swizzle", "A box wider than its swizzle's span",
        "cuTensorMapEncodeTiled answers INVALID_VALUE as soon as a swizzle is asked for.",
        ("tile-ai/tilelang#2578", "tile-ai/tilelang#2555"),
    ),
)  # fmt: skip
_BY_ID = {found.id: found for found in _ENTRIES}
ENTRIES = tuple(_BY_ID[name] for name in NAMES)
GROUPS = {
    "It hangs": tuple(_BY_ID[name] for name in HANGS),
    "It completes with wrong bytes": tuple(_BY_ID[name] for name in WRONG_BYTES),
    "The driver or the GPU refuses": tuple(_BY_ID[name] for name in REFUSED),
}


def entry(name: str) -> Entry:
    """The entry of that id. Raises InputError for an unknown one."""
    if name not in _BY_ID:
        raise InputError("not in the gallery", field="entry", value=name, fix=f"use one of {', '.join(_BY_ID)}")
    return _BY_ID[name]
