"""Seeded streams of random descriptors and transfers, in chunks that can be made anywhere, in any order, again.

    seed 7 ─┬─ descriptors  chunk 0 │ chunk 1 │ chunk 2 …     each chunk has a generator of its own:
            └─ transfers    chunk 0 │ chunk 1 …               Random("v1/transfers/7/1")

>>> descriptors(7, chunk=2, count=3) == descriptors(7, chunk=2, count=5)[:3]
True

A campaign that stops goes on with the chunks that it lacks, and its workers send no descriptors to each other.
"""

from __future__ import annotations

from random import Random

from tmalab.experiment.case import Case
from tmalab.experiment.random_descriptor import random_descriptor
from tmalab.experiment.random_transfer import random_transfer
from tmalab.model.tensor_map import TensorMap

VERSION = "v1"  # of the distributions: another one makes other numbers from the same seed


def descriptors(seed: int, chunk: int, count: int) -> list[TensorMap]:
    """The `count` first descriptors of chunk number `chunk`, about half of them illegal."""
    rng = Random(f"{VERSION}/descriptors/{seed}/{chunk}")
    return [random_descriptor(rng) for _ in range(count)]


def transfers(seed: int, chunk: int, count: int) -> list[Case]:
    """The `count` first transfers of chunk number `chunk`, named by seed, chunk and position."""
    rng = Random(f"{VERSION}/transfers/{seed}/{chunk}")
    return [random_transfer(rng, f"random/{seed}/{chunk}/{position}") for position in range(count)]
