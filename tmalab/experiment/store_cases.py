"""The cases in which a wait or a step of the order is left out: buffers overwritten early, fences and barriers gone.

    reuse/stores-3        every place for the commits x every wait, in one case
    ordering/store/…      all write, all fence, CTA barrier, one lane stores: each step taken away

>>> [case.name for case in reuse_cases()][:2]
['reuse/stores-1', 'reuse/stores-2']
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.case import Case


def reuse_cases() -> Iterator[Case]:
    """One to four stores; then, instead of overwriting, a look whether the bytes have arrived after the wait."""
    for stores in (1, 2, 3, 4):
        yield Case(f"reuse/stores-{stores}", "reuse", {"stores": stores})
    for rows in (128, 32, 8):  # 16, 4 and 1 KiB a store
        params = {"stores": 4, "rows": rows, "peek": True, "masks": [0b1000, 0b1111]}
        yield Case(f"reuse/arrived/{rows * 128}-bytes", "reuse", params)


PUBLISHED = ("neither", "fence_mbarrier_init", "fence_proxy_async")
# All write, all fence, CTA barrier, one lane issues: "whole", and each step taken away or moved.
ORDERS: dict[str, tuple[str, ...]] = {
    "whole": ("fence_by_all", "cta_barrier"),
    "no-fence": ("cta_barrier",),
    "fence-by-issuer": ("cta_barrier", "fence_after_by_issuer"),
    "fence-after-barrier": ("cta_barrier", "fence_after_by_all"),
    "no-barrier": ("fence_by_all",),
    "neither": (),
}
BLOCKS, ROUNDS = 1024, 256
LATE_CYCLES = 3000


def ordering_cases() -> Iterator[Case]:
    """262,144 runs each: the barrier's initialisation published or not, a step of the order taken away.

    `store` writes shared memory and stores it, `fetch` writes global memory and loads it; `late` has a warp that writes
    3000 cycles after the others.
    """
    size = {"blocks": BLOCKS, "rounds": ROUNDS}
    params: dict[str, Any]
    paces: dict[str, tuple[str, ...]] = {"one-thread": (), "two-warps": ("cta_barrier",)}
    for pace, order in paces.items():
        for publish in PUBLISHED:
            params = {"experiment": "init", "publish": publish, "order": order, **size}
            yield Case(f"ordering/init/{pace}/{publish.replace('_', '-')}", "ordering", params)
    for experiment in ("store", "fetch"):
        for name, order in ORDERS.items():
            params = {"experiment": experiment, "order": order, **size}
            yield Case(f"ordering/{experiment}/{name}", "ordering", params)
    for name in ("whole", "no-fence", "no-barrier"):
        params = {"experiment": "store", "order": ORDERS[name], "late_cycles": LATE_CYCLES, **size}
        yield Case(f"ordering/store-late/{name}", "ordering", params)
