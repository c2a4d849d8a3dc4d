"""The cases of the chapter on TIRx: what each of its programs is asked (tmalab/frontends/programs/tirx_*.py).

    tirx/add_one/…   tirx/states/…   tirx/boxes/…   tirx/own_map/…   tirx/stores/…   tirx/multicast   tirx/stages

>>> [case.name for case in tirx_cases()][:2]
['tirx/add_one/llvm/nvrtc', 'tirx/add_one/llvm/nvcc']

TIRx counts from the outermost dimension: `shape`, `box`, `at` and `steps` are in its order here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tmalab.experiment.case import Case
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.experiment.transfer_case import BACKGROUND
from tmalab.model.encoded_map import decode

if TYPE_CHECKING:
    import numpy as np

HOSTS, COMPILERS = ("llvm", "cuda_host"), ("nvrtc", "nvcc")
_IOTA = {"pattern": "iota16", "bytes": 1 << 16}
_RANDOM = {"pattern": "random", "seed": 6, "bytes": 1 << 16}
_MATRIX: dict[str, Any] = {"dtype": "uint16", "shape": [16, 128], "box": [8, 64], "at": [0, 0], "memory": _IOTA}
_FLOATS: dict[str, Any] = {
    "dtype": "float32", "shape": [32, 32], "box": [8, 16], "at": [0, 0],
    "memory": {"pattern": "arange_float32", "bytes": 4096},
}  # fmt: skip
_GROUPS = {"stored": [16, 256], "shape": [4, 16, 64], "strides": [64, 256, 1], "box": [2, 16, 64], "at": [1, 0, 0]}
_CHANNELS: dict[str, Any] = {"shape": [2, 4, 8, 8, 8], "box": [1, 1, 4, 8], "at": [1, 2, 2, 0], "memory": _RANDOM}
_FIVE: dict[str, Any] = {"shape": [3, 4, 5, 6, 32], "box": [1, 2, 3, 2, 16], "at": [2, 1, 1, 3, 8], "memory": _RANDOM}
BOXES: dict[str, dict[str, Any]] = {
    "plain": _MATRIX,
    "two-in-a-row": _MATRIX | {"repeat": [2], "steps": [[0, 64]], "fields": {"swizzle": 3}},
    "two-by-four": _MATRIX | {"box": [8, 32], "repeat": [2, 4], "steps": [[8, 0], [0, 32]]},
    "downwards-and-back": _MATRIX | {"box": [4, 32], "at": [0, 64], "repeat": [3], "steps": [[5, -32]]},
    "over-the-edge": _MATRIX | {"at": [4, 0], "repeat": [3], "steps": [[4, 48]], "fields": {"swizzle": 3}},
    "three-dimensions": _MATRIX | _GROUPS | {"fields": {"swizzle": 3}},
    "every-second-row": _FLOATS | {"fields": {"element_strides": [2, 1]}},
    "fill-zero": _FLOATS | {"at": [28, 24]},
    "fill-nan": _FLOATS | {"at": [28, 24], "fields": {"oob_fill": 1}},
    "fill-nan-bfloat16": _MATRIX | {"at": [12, 96], "fields": {"format": "bfloat16", "oob_fill": 1}},
    "tf32": _FLOATS | {"memory": {"pattern": "float_edges", "dtype": "float32", "seed": 6, "bytes": 4096},
                       "fields": {"format": "tf32"}},
    "l2-promotion": _MATRIX | {"fields": {"l2_promotion": 3}},
    "five-dimensions": _MATRIX | _FIVE,
    "interleave-16": _MATRIX | _CHANNELS | {"fields": {"interleave": 1}},
    "interleave-narrow": _MATRIX | _CHANNELS | {"box": [1, 1, 4, 4], "at": [0, 1, 2, 2], "fields": {"interleave": 1}},
    "interleave-32": _MATRIX | _CHANNELS | {"shape": [2, 4, 8, 8, 16], "fields": {"interleave": 2, "swizzle": 1}},
    "packed": {"dtype": "float4_e2m1fn", "stored": [16, 128], "stored_dtype": "uint8", "shape": [16, 256],
               "box": [8, 128], "at": [0, 0], "memory": _RANDOM},
}  # fmt: skip
_WORDS: dict[str, Any] = {
    "dtype": "uint32", "shape": [32, 32], "box": [8, 16], "at": [8, 16],
    "memory": {"pattern": "random", "seed": 1, "bytes": 4096}, "smem": {"pattern": "random", "seed": 2, "bytes": 512},
}  # fmt: skip
_HALVES = _WORDS | {"dtype": "uint16", "shape": [32, 64], "box": [8, 32]}


def _floats(dtype: str) -> dict[str, Any]:
    edges = {"pattern": "float_edges", "dtype": dtype}
    return {
        "fields": {"format": dtype},
        "memory": {**edges, "seed": 1, "bytes": 4096}, "smem": {**edges, "seed": 2, "bytes": 512},
    }  # fmt: skip


STORES: dict[str, dict[str, Any]] = {
    "store": _WORDS,
    "store-swizzled": _HALVES | {"box": [8, 32], "fields": {"swizzle": 2}},
    "store-over-the-edge": _WORDS | {"at": [28, 24]},
    **{op: _WORDS | {"op": op} for op in ("add", "min", "max", "inc", "dec", "and", "or", "xor")},
    "add-over-the-edge": _WORDS | {"op": "add", "at": [28, 24]},
    "min-int32": _WORDS | {"op": "min", "fields": {"format": "int32"}},
    "add-float32": _WORDS | _floats("float32") | {"op": "add"},
    "add-float16": _HALVES | _floats("float16") | {"op": "add"},
    "add-bfloat16": _HALVES | _floats("bfloat16") | {"op": "add"},
    "max-float16": _HALVES | _floats("float16") | {"op": "max"},
    "max-float32": _WORDS | _floats("float32") | {"op": "max"},
}
OWN_MAPS = {
    "as-told": {"encoded": 3, "told": 3}, "told-but-not-encoded": {"encoded": 0, "told": 3},
    "encoded-but-not-told": {"encoded": 3, "told": 0}, "prefetched": {"encoded": 3, "told": 3, "prefetch": True},
}  # fmt: skip
TILES = 132 * 260  # of 32 KB: 1.12 GB, past an H200's L2


def _tirx(name: str, program: str, **params: Any) -> Case:
    return Case(f"tirx/{name}", "tirx", {"program": program, **params})


def tirx_cases() -> Iterator[Case]:
    """All of them."""
    for host in HOSTS:
        for compiler in COMPILERS:
            lines = {"lines": True} if (host, compiler) == ("llvm", "nvrtc") else {}
            yield _tirx(f"add_one/{host}/{compiler}", "add_one", host=host, compiler=compiler, **lines)
    for swizzle in ("none", "32B", "64B", "128B"):
        yield _tirx(f"states/{swizzle}", "states", swizzle=swizzle, bases=list(range(0, 1025, 128)))
    for name, params in BOXES.items():
        yield _tirx(f"boxes/{name}", "boxes", **params)
    for name, params in OWN_MAPS.items():
        yield _tirx(f"own_map/{name}", "own_map", **params)
    for name, params in STORES.items():
        yield _tirx(f"stores/{name}", "stores", **params)
    yield _tirx("multicast", "multicast", memory={"pattern": "iota16", "bytes": 8192})
    yield _tirx("stages", "stages", tiles=TILES, stages=[1, 2, 3, 4, 6], deadline_s=150)
    yield _tirx("refused", "refused")


# --- what the model says of them --------------------------------------------------------------------------------------


def foretold(seen: Observation) -> np.ndarray:
    """The bytes that boxes, stores or a multicast left, as the model says by the map that was encoded."""
    params = seen.case.params
    told: dict[str, Callable[[Observation, Mapping[str, Any]], np.ndarray]] = {
        "boxes": _boxes, "stores": _stores, "multicast": _multicast,
    }  # fmt: skip
    return told[params["program"]](seen, params)


def _boxes(seen: Observation, params: Mapping[str, Any]) -> np.ndarray:
    """One load a repeat, one box behind the other."""
    from tmalab import model

    tm, memory, places = decode(seen["descriptor"].tobytes()), make_bytes(params["memory"]), seen["coordinates"]
    smem = make_bytes({"pattern": "fill", "value": BACKGROUND, "bytes": seen["smem"].size})
    each = smem.size // len(places)
    for number, place in enumerate(places):
        here = slice(number * each, (number + 1) * each)
        smem[here] = model.load(tm, memory, place[::-1], smem_bytes=here.stop, smem_base=here.start)[here]
    return smem


def _stores(seen: Observation, params: Mapping[str, Any]) -> np.ndarray:
    from tmalab import model

    tm, memory, smem = decode(seen["descriptor"].tobytes()), make_bytes(params["memory"]), make_bytes(params["smem"])
    if "op" in params:
        return model.reduce(tm, smem, params["at"][::-1], params["op"], memory=memory)
    return model.store(tm, smem, params["at"][::-1], memory=memory)


def _multicast(seen: Observation, params: Mapping[str, Any]) -> np.ndarray:
    """Rows 8 to 23 in both CTAs, whoever loaded which."""
    import numpy as np

    from tmalab import model

    tm, memory = decode(seen["descriptor"].tobytes()), make_bytes(params["memory"])
    halves = [model.load(tm, memory, (32, 8 + 8 * rank), smem_bytes=1024) for rank in (0, 1)]
    return np.tile(np.concatenate(halves), (2, 1))


def as_figure_1(observe: Callable[[str], Observation]) -> Callable[[Case], Observation]:
    """What tirx/states saw, asked once, as observations of Figure 1: a function from its cases to them."""
    from tmalab.experiment.catalogue import TILE_COLS, TILE_ROWS

    states = lru_cache(lambda swizzle: observe(f"tirx/states/{swizzle}"))

    def seen_by_tirx(case: Case) -> Observation:
        seen = states(case.params["tensor_map"]["swizzle"])
        (col, row), base = case.params["coords"], case.params["smem_base"]
        place = (seen.case.params["bases"].index(base), TILE_ROWS.index(row), TILE_COLS.index(col))
        values = {"completed": not seen["late"], "error": None}
        return Observation(case, {"smem": seen["smem"][place]}, values, seen.provenance, seen.source)

    return seen_by_tirx
