"""What front ends do with a copy, and where one's own check is not the driver's; recorded in groups of their own.

    cute/…   frontends/…   refusals/…        each trial reads a case of those, and names its package's version

>>> [fact.id for fact in FRONT_ENDS][:2]
['cute-elects-a-lane', 'cute-writes-the-map']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tmalab.experiment.case import Case
from tmalab.experiment.cute_cases import VERSIONS, cute_cases
from tmalab.experiment.facts.fact import Trial, fact
from tmalab.experiment.frontend_tile_cases import frontend_tile_cases
from tmalab.experiment.observation import Observation
from tmalab.experiment.refusal_cases import SITUATIONS, refusal_cases
from tmalab.experiment.refusals import Answer
from tmalab.experiment.tirx_cases import tirx_cases
from tmalab.model.encoded_map import differing

_CASES: dict[str, Case] = {
    case.name: case for cases in (cute_cases, frontend_tile_cases, refusal_cases, tirx_cases) for case in cases()
}
_SLOWER = 1.05  # more than what repeats differ by


def _read(name: str, answer: str, question: str, reads: Callable[[Observation], str]) -> Trial:
    return Trial(_CASES[name], question, answer, reads=reads)


def _elects(seen: Observation) -> str:
    return ", ".join(f"{what} {'yes' if it_does else 'no'}" for what, it_does in seen["elects"].items())


def _ended(seen: Observation) -> str:
    return "the load completes" if seen["phase_completed"] else "the load never completes"


def _by_itself(seen: Observation) -> str:
    unlike = differing(seen["descriptor"].tobytes(), seen["driver_descriptor"].tobytes())
    return f"{len(seen['encode_calls'])} calls of the driver's encoder; unlike its map in {', '.join(unlike)}"


def _waits_for_a_buffer(via: str) -> Callable[[Observation], str]:
    """Whether two buffers take longer than three; the medians are from one run."""

    def reads(seen: Observation) -> str:
        two, three = (float(np.median(seen["ms"][VERSIONS.index((via, stages, 132))])) for stages in (2, 3))
        return f"two {'take longer than' if two > _SLOWER * three else 'are as fast as'} three"

    return reads


def _by_tirx(seen: Observation) -> str:
    """Who refused, and else how much of the tile is not what was loaded."""
    if raised := seen.values.get("raised"):
        driver = "cuTensorMapEncodeTiled: invalid argument" in raised["message"]
        return "TIRx compiles it, the driver refuses" if driver else "TIRx refuses"
    return f"{seen['differ']} of {seen['elements']} elements differ"


def _answered(situation: str, who: str, answer: str, question: str) -> Trial:
    """What a front end answered to a situation: refuses, by whose check, or what it loaded."""

    def reads(seen: Observation) -> str:
        given = Answer(SITUATIONS[situation], who, seen)
        if given.refused is not None:
            return "the driver refuses" if given.by_the_driver or who == "driver" else "refuses"
        return f"loads, {given.bytes_differing} bytes differ"

    return _read(f"refusals/{situation}/{who}", answer, question, reads)


LOADS = "loads, 0 bytes differ"
FRONT_ENDS: tuple[Any, ...] = (
    fact(
        "cute-elects-a-lane",
        "CuTe DSL's load elects its lane by itself, and inside another election waits for lanes that do not come. A "
        "store and a prefetch do not elect.",
        "CuTe DSL 4.8.1, cute.copy: nothing.",
        _read("cute/anatomy", "load yes, multicast yes, prefetch no, store no", "elects by itself", _elects),
        _read("cute/armed/payload", "the load completes", "a load by the whole warp", _ended),
        _read("cute/elected-twice", "the load never completes", "a load inside elect_one", _ended),
    ),
    fact(
        "cute-writes-the-map",
        "CuTe DSL's host code writes the tensor map without the driver, two fields of it not at all, and a stride that "
        "has no place in a map it cuts to one that has.",
        "CUDA driver API, CUtensorMap: an opaque object; globalStrides: a multiple of 16 bytes.",
        _read("frontends/cute/default",
              "0 calls of the driver's encoder; unlike its map in box_bytes, pattern_bytes, other", "one tile",
              _by_itself),
        _answered("stride", "driver", "the driver refuses", "rows 648 bytes apart: by the driver"),
        _answered("stride", "cute", "loads, 4096 bytes differ", "the same by CuTe DSL, 4096 bytes"),
        rules=("global_stride_multiple_16",),
    ),
    fact(
        "staged-stores-need-three-buffers",
        "A loop that loads ahead and stores by TMA needs three buffers, not two: the engine reads one for a while yet.",
        "CuTe DSL 4.8.1: nothing.",
        _read("cute/rate", "two take longer than three", "stored by TMA, 1.09 GB", _waits_for_a_buffer("tma")),
        _read("cute/rate", "two are as fast as three", "stored from registers", _waits_for_a_buffer("registers")),
    ),
    fact(
        "cccl-measured-the-outer-dimension",
        "CCCL 3.2 to 3.4 hold the box's outermost dimension against the swizzle's span and against 16 bytes, 3.5 the "
        "innermost.",
        "CUDA driver API, boxDim: the innermost.",
        _answered("tall", "driver", LOADS, "96 rows of 128 bytes, 128B: by the driver"),
        _answered("tall", "cccl-3.4", "refuses", "the 96 rows by CCCL 3.4.3"),
        _answered("tall", "cccl-3.5", LOADS, "the 96 rows by CCCL 3.5.0"),
        _answered("low", "driver", LOADS, "4 rows of 128 bytes: by the driver"),
        _answered("low", "cccl-3.4", "refuses", "the 4 rows by CCCL 3.4.3"),
        _answered("low", "cccl-3.5", LOADS, "the 4 rows by CCCL 3.5.0"),
        rules=("box_inner_le_swizzle_span",),
    ),
    fact(
        "cccl-holds-the-box-to-the-tensor",
        "CCCL refuses a box that is larger than the tensor, and rows that overlap. The driver takes both.",
        "CUDA driver API, boxDim and globalStrides: no such rule.",
        _answered("past", "driver", LOADS, "32 rows over a tensor of 24: by the driver"),
        _answered("past", "cccl-3.5", "refuses", "the 32 rows by CCCL 3.5.0"),
        _answered("overlap", "driver", LOADS, "640-byte rows 128 bytes apart: by the driver"),
        _answered("overlap", "cccl-3.5", "refuses", "the rows that overlap by CCCL 3.5.0"),
        rules=("box_wider_than_tensor", "strides_overlap"),
    ),
    fact(
        "pallas-wants-the-whole-span",
        "Pallas Mosaic GPU wants rows of exactly the swizzle's span. Rows of half of it load.",
        "CUDA driver API, swizzle: at most the span.",
        _answered("narrow", "driver", LOADS, "rows of 64 bytes, 128B: by the driver"),
        _answered("narrow", "pallas", "refuses", "the same by Pallas Mosaic GPU"),
        rules=("box_inner_le_swizzle_span",),
    ),
    fact(
        "tirx-takes-your-word-for-a-map",
        "TIRx proves that a shared layout fits the swizzle that it is told. Of a map that the kernel encodes itself it "
        "looks at nothing: where the two disagree nothing fails, and one row in eight is right.",
        "TIRx 0.1.0a4, pattern tma: the fields of a map must agree with what apply is told.",
        _read("tirx/own_map/as-told", "0 of 512 elements differ", "encoded and told 128B", _by_tirx),
        _read("tirx/own_map/told-but-not-encoded", "448 of 512 elements differ", "told 128B, encoded none", _by_tirx),
        _read("tirx/own_map/encoded-but-not-told", "448 of 512 elements differ", "encoded 128B, told none", _by_tirx),
    ),
    fact(
        "tirx-leaves-it-to-the-driver",
        "TIRx compiles for sm_90a what an H200 cannot have: packed 4-bit loads, and with interleave a box whose row is "
        "8 bytes. A maximum of float32 even the driver takes, and the engine does not.",
        "TIRx 0.1.0a4, pattern tma: packed formats, and with interleave no rule on a row's length.",
        _read("tirx/boxes/packed", "TIRx compiles it, the driver refuses", "16U4_ALIGN16B", _by_tirx),
        _read("tirx/boxes/interleave-narrow", "TIRx compiles it, the driver refuses", "8 bytes a row, interleaved",
              _by_tirx),
        _read("tirx/stores/max-float32", "ILLEGAL_INSTRUCTION", "reduce max of float32", _by_tirx),
        rules=("packed_type_needs_sm100", "box_inner_bytes_multiple_16", "reduction_op_and_type"),
    ),
)  # fmt: skip
