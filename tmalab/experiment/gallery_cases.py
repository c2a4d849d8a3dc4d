"""The gallery's cases: one a broken kernel, which runs it and its mended version.

    gallery/expect-too-many ─▶ {"kernel": "gallery/expect_too_many"} ─▶ values "broken", "fixed"

>>> gallery_case("wait-skipped").params
{'kernel': 'gallery/wait_skipped'}

Everything else (memory, tensor maps, grid, what has to come out) stands in the kernel's own file.
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.errors import InputError
from tmalab.experiment.case import Case

# By what the engineer sees: it hangs; it completes and the bytes are wrong, or might be; it is refused.
HANGS = (
    "expect-too-many", "expect-too-few", "expect-one-of-two", "outside-rows-not-counted", "arrive-missing",
    "count-too-high", "load-by-all-lanes", "consumer-never-arrives", "roles-disagree-on-tiles", "peer-not-armed",
)  # fmt: skip
WRONG_BYTES = (
    "parity-wrong", "parity-from-loop-index", "wait-skipped", "rearmed-before-consumed", "init-not-fenced",
    "store-not-fenced", "store-fenced-by-issuer", "store-fenced-after-barrier", "store-fenced-after-it",
    "store-before-all-wrote", "buffer-reused-too-early", "group-waits-one-short", "wait-by-another-thread",
    "wait-of-cp-async", "flag-after-read-wait", "block-ends-before-store", "descriptor-stale",
    "descriptor-rewritten-in-flight", "swizzle-read-from-tile-start", "box-past-the-tensor",
)  # fmt: skip
REFUSED = (
    "arrived-twice", "elected-in-every-warp", "peer-has-left", "barrier-never-initialised", "barrier-misaligned",
    "shared-destination-off", "inner-coordinate-off", "store-at-negative-row", "reduction-type-lacks-op",
    "descriptor-on-the-stack", "box-of-512-rows", "row-pitch-off", "box-wider-than-the-swizzle",
)  # fmt: skip
NAMES = (*HANGS, *WRONG_BYTES, *REFUSED)


def gallery_case(name: str) -> Case:
    """The case of one entry. Raises InputError for an unknown one."""
    if name not in NAMES:
        raise InputError("not in the gallery", field="entry", value=name, fix=f"use one of {', '.join(NAMES)}")
    return Case(f"gallery/{name}", "gallery", {"kernel": f"gallery/{name.replace('-', '_')}"})


def gallery_cases() -> Iterator[Case]:
    """All of them, in the order in which the book shows them."""
    yield from map(gallery_case, NAMES)
