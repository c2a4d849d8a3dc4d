"""The cases of the chapter on pipelines: what each part costs, every pipeline that is run, and the copy.

    pipeline/costs    pipeline/hbm/16384  (place / tile bytes)    pipeline/hbm/16384/2-consumers    pipeline/copy

>>> [case.name for case in pipeline_cases()][:2]
['pipeline/costs', 'pipeline/l2/4096']
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.experiment.case import Case

# One block, its tiles in the L2; one block, its tiles in memory; a block on every multiprocessor, in memory.
PLACES = ("l2", "hbm", "all")
TILE_BYTES = (4096, 8192, 16384, 32768)
STAGES = (1, 2, 3, 4, 5, 6, 7, 8)
FMA = (0, 64, 128, 256, 512)  # dependent multiplications a tile: the compute time
TILES, KEPT = 64, 24  # of a run; of those, the ones whose moments are kept
# Cycles from load to load of one multiprocessor, as shares of what 18 bytes a cycle allow; 0: as fast as they go.
PACES = (0.0, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 6.0)
RATE_BYTES = 18

# (order, blocks a multiprocessor, tile bytes, stages, held, at once, evicts first, rows, spare bytes) of the copy's
# versions. `order`: how a block finds its next tile; `held`: stores that may still read while the next tile is loaded;
# `at once`: tiles that a block takes from the counter together; `rows`: of a tensor map's box, 0 without a map; spare:
# shared memory that keeps further blocks away.
COPY_BYTES = 4 << 30
COPIES = (
    ("interleaved", 1, 32768, 6, 3, 1, True, 0, 0), ("chunks", 1, 32768, 6, 3, 1, True, 0, 0),
    ("counter", 1, 32768, 6, 3, 1, True, 0, 0), ("counter", 1, 32768, 3, 1, 1, True, 0, 0),
    ("counter", 1, 65536, 3, 1, 1, True, 0, 0), ("counter", 1, 16384, 12, 4, 1, True, 0, 0),
    ("counter", 1, 16384, 8, 4, 1, True, 0, 0), ("counter", 1, 16384, 6, 3, 1, True, 0, 0),
    ("counter", 1, 16384, 5, 2, 1, True, 0, 0), ("counter", 1, 16384, 4, 2, 1, True, 0, 0),
    ("counter", 1, 16384, 6, 0, 1, True, 0, 0), ("counter", 1, 16384, 6, 4, 1, True, 0, 0),
    ("counter", 1, 16384, 6, 3, 1, False, 0, 0), ("counter", 1, 16384, 6, 3, 1, True, 128, 0),
    ("counter", 1, 8192, 12, 4, 1, True, 0, 0), ("counter", 1, 8192, 10, 4, 1, True, 0, 0),
    ("counter", 2, 8192, 6, 3, 1, True, 0, 0), ("counter", 2, 8192, 5, 2, 1, True, 0, 0),
    ("counter", 2, 8192, 6, 3, 1, False, 0, 0), ("counter", 2, 8192, 6, 3, 1, True, 64, 0),
    ("counter", 3, 8192, 4, 2, 1, True, 0, 0), ("counter", 4, 8192, 3, 1, 1, True, 0, 0),
    ("counter", 4, 4096, 6, 3, 1, True, 0, 0), ("counter", 2, 4096, 12, 4, 2, True, 0, 0),
    ("counter", 4, 4096, 6, 3, 2, True, 0, 0), ("counter", 4, 4096, 5, 2, 2, True, 0, 0),
    ("counter", 6, 4096, 4, 2, 2, True, 0, 0), ("counter", 8, 4096, 3, 1, 2, True, 0, 0),
    ("counter", 4, 4096, 6, 3, 4, True, 0, 0), ("counter", 2, 8192, 6, 3, 2, True, 0, 0),
    ("one tile a block", 0, 4096, 1, 0, 1, True, 0, 0), ("one tile a block", 0, 4096, 1, 0, 1, True, 0, 4096),
    ("one tile a block", 0, 16384, 1, 0, 1, True, 0, 0),
)  # fmt: skip


def pipeline_case(place: str, tile_bytes: int, consumers: int = 1) -> Case:
    """Every stage count and compute time of one place and tile size."""
    name = f"pipeline/{place}/{tile_bytes}" + (f"/{consumers}-consumers" if consumers > 1 else "")
    params = {
        "place": place, "tile_bytes": tile_bytes, "consumers": consumers, "stages": STAGES, "fma": FMA, "tiles": TILES,
        "kept": KEPT,
    }  # fmt: skip
    return Case(name, "pipeline", params)


def paces(tile_bytes: int) -> list[int]:
    """In cycles, of the loads that are timed while others are on their way."""
    return [round(share * tile_bytes / RATE_BYTES) for share in PACES]


def pipeline_cases() -> Iterator[Case]:
    """All of them."""
    params = {
        "tile_bytes": TILE_BYTES, "fma": FMA, "consumers": (1, 2), "bursts": (1, 4),
        "paces": [paces(tile_bytes) for tile_bytes in TILE_BYTES],
    }  # fmt: skip
    yield Case("pipeline/costs", "pipeline_costs", params)
    for place in PLACES:
        for tile_bytes in TILE_BYTES:
            yield pipeline_case(place, tile_bytes)
    yield pipeline_case("hbm", 16384, consumers=2)
    yield Case("pipeline/copy", "tma_copy", {"bytes": COPY_BYTES, "versions": COPIES})
