"""The cases of the chapter on CuTe DSL: what each of its programs is asked (tmalab/frontends/programs/cute_*.py).

    cute/strips   cute/rate   cute/timeline   cute/armed/…   cute/view/…   cute/residue/…   cute/warps/…   cute/cluster

>>> [case.name for case in cute_cases()][:2]
['cute/anatomy', 'cute/strips']
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.case import Case

# The seed's matrix, and one of 36 times its strips: 1.09 GB, far past the 60 MB of L2.
STRIPS, TILES, TILE = 132, 7, (64, 256)
LARGE_STRIPS = 36 * STRIPS
# (how a tile leaves shared memory, buffers, blocks) of the timing experiment
VERSIONS = (
    ("registers", 1, 132), ("registers", 2, 132), ("registers", 3, 132), ("registers", 4, 132),
    ("tma", 1, 132), ("tma", 2, 132), ("tma", 3, 132), ("tma", 4, 132), ("tma", 6, 132),
    ("registers", 1, 4752), ("tma", 1, 4752), ("tma by 32 lanes", 4, 132),
)  # fmt: skip
# The same of the timeline, one block of 132: 14 tiles each
WALKS = tuple((via, stages) for via in ("registers", "tma") for stages in (1, 2, 3, 4))


def _cute(name: str, program: str, **params: Any) -> Case:
    return Case(f"cute/{name}", "cute", {"program": program, **params})


def cute_cases() -> Iterator[Case]:
    """All of them."""
    yield _cute("anatomy", "anatomy")
    yield _cute("strips", "strips")
    yield _cute("rate", "stages", task="rate", strips=LARGE_STRIPS, versions=VERSIONS)
    yield _cute("timeline", "stages", task="timeline", strips=2 * STRIPS, block=66, versions=WALKS)
    yield _cute("armed/payload", "hang", armed_bytes=32768)
    yield _cute("armed/allocation", "hang", armed_bytes=32776)
    for alignment in (128, 1024):
        for order, first in (("tile-first", False), ("barrier-first", True)):
            yield _cute(
                f"allocated/{order}/{alignment}", "hang", armed_bytes=32768, barrier_first=first,
                tile_alignment=alignment,
            )  # fmt: skip
    yield from _view_cases()
    yield _cute("warps/guarded", "warps", guarded=True)
    yield _cute("cluster", "cluster")
    yield _cute("warps/every-warp", "warps", guarded=False, deadline_s=8)
    yield _cute("prefetch", "prefetch")
    elected: dict[str, Any] = {"armed_bytes": 32768, "copy_elected": True, "deadline_s": 6}
    yield _cute("elected-twice", "hang", **elected)
    yield _cute("elected-twice/unbounded", "hang", bounded=False, **elected)


def _view_cases() -> Iterator[Case]:
    """A matrix stored as its transpose, seen wrongly and rightly; 200 x 600, in whole tiles and in all tiles."""
    shape = (STRIPS * TILE[0], TILES * TILE[1])
    for name, strides in (("as-rows", (shape[1], 1)), ("as-stored", (1, shape[0]))):
        yield _cute(f"transposed/{name}", "views", shape=shape, strides=strides, grid=(STRIPS, TILES), stored="columns")
    ragged: dict[str, Any] = {"shape": (200, 600), "strides": (600, 1), "stored": "rows"}
    yield _cute("residue/whole-tiles", "views", grid=(3, 2), **ragged)
    yield _cute("residue/all-tiles", "views", grid=(4, 3), keep=(192, 512), **ragged)
