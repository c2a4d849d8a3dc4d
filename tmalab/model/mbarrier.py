"""One mbarrier: arrivals and bytes that are still to come, and the phase that ends when both are none.

    phase completes  ⇔  pending_count = 0  and  tx_count = 0        then pending_count = expected_count, phase + 1

>>> armed = MBarrier.init(1).arrive_expect_tx(4096)
>>> armed.pending_count, armed.tx_count, armed.test_wait(0)
(0, 4096, False)
>>> landed = armed.complete_tx(2048).complete_tx(2048)
>>> landed.phase, landed.test_wait(0), landed.test_wait(1)
(1, True, False)

Every operation returns the new barrier and leaves the old one as it was. `phase` counts from 0 for ever; PTX knows its
parity alone. Source: PTX ISA, *Parallel Synchronization and Communication Instructions: mbarrier*. Measured on an
H200: an `expect_tx` that brings the tx-count to 0 completes the phase too; an arrival where none is pending ends the
kernel with CUDA_ERROR_LAUNCH_FAILED.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tmalab.errors import TmaLabError

# Arrivals and bytes are counted in 20 bits; the tx-count has a sign beside them.
MOST = (1 << 20) - 1


class MBarrierError(TmaLabError, ValueError):
    """An operation that PTX leaves undefined. `rule` names it; `field`, `value`, `limit` and `fix` say the rest."""

    def __init__(self, rule: str, message: str, **said: Any):
        self.rule = rule
        super().__init__(message, **said)


class BarrierCounts(NamedTuple):
    """What a barrier holds at one moment."""

    phase: int
    pending_count: int
    expected_count: int
    tx_count: int

    @property
    def parity(self) -> int:
        """The parity of the phase that is going on: a wait for the other one returns at once."""
        return self.phase & 1


class MBarrier(NamedTuple):
    """The state of one mbarrier. `phase` is the one that is going on, the count of phases that are complete."""

    phase: int
    pending_count: int
    expected_count: int
    tx_count: int = 0
    valid: bool = True

    @classmethod
    def init(cls, count: int) -> MBarrier:
        """`mbarrier.init`: phase 0, `count` arrivals to come. Raises MBarrierError for a count outside 1 … 2^20-1."""
        if not 1 <= count <= MOST:
            raise MBarrierError(
                "mbarrier_count_range", f"an mbarrier counts 1 to {MOST} arrivals", field="count", value=count,
                limit=MOST, fix="count the threads that arrive in one phase",
            )  # fmt: skip
        return cls(0, count, count)

    # --- arriving and counting bytes ----------------------------------------------------------------------------------

    def arrive(self, count: int = 1) -> MBarrier:
        """`mbarrier.arrive`, with `count` arrivals at once. Raises MBarrierError where fewer are pending."""
        return self._arrive(count, 0)

    def arrive_expect_tx(self, tx_bytes: int) -> MBarrier:
        """`mbarrier.arrive.expect_tx`: the bytes come first, so that the arrival cannot end the phase without them."""
        return self._arrive(1, tx_bytes)

    def expect_tx(self, tx_bytes: int) -> MBarrier:
        """`mbarrier.expect_tx`: more bytes for this phase, and no arrival."""
        return self._count(self.tx_count + self._operand(tx_bytes))._settled()

    def complete_tx(self, tx_bytes: int) -> MBarrier:
        """`mbarrier.complete_tx`, which the engine does as bytes land."""
        return self._count(self.tx_count - self._operand(tx_bytes))._settled()

    def arrive_drop(self, count: int = 1, tx_bytes: int = 0) -> MBarrier:
        """`mbarrier.arrive_drop`: arrive, and be expected no more from the next phase on."""
        if count > self.expected_count:
            raise MBarrierError(
                "mbarrier_count_range", "more arrivals are dropped than are expected", field="count", value=count,
                limit=self.expected_count, fix="drop each arriver once",
            )  # fmt: skip
        return self._replace(expected_count=self.expected_count - count)._arrive(count, tx_bytes)

    def inval(self) -> MBarrier:
        """`mbarrier.inval`: the memory may serve something else; only `init` may follow."""
        self._living()
        return self._replace(valid=False)

    # --- asking -------------------------------------------------------------------------------------------------------

    def test_wait(self, parity: int) -> bool:
        """Whether the phase before the going-on one has that parity, and so is complete. One bit of `parity` counts."""
        self._living()
        return (self.phase ^ parity) & 1 == 1

    @property
    def token(self) -> tuple[int, int]:
        """The state that an arrival returns: the phase and the arrivals pending before it."""
        return self.phase, self.pending_count

    def test_wait_token(self, token: tuple[int, int]) -> bool:
        """Whether the phase of an arrival's state is complete. It must be of this phase or of the one before."""
        self._living()
        if not 0 <= self.phase - token[0] <= 1:
            raise MBarrierError(
                "mbarrier_state_too_old", "the state is of neither this phase nor the one before it", field="state",
                value=token[0], limit=self.phase - 1, fix="wait for a phase before the next one completes",
            )  # fmt: skip
        return token[0] != self.phase

    @property
    def counts(self) -> BarrierCounts:
        """The four numbers."""
        return BarrierCounts(*self[:4])

    # --- the rule -----------------------------------------------------------------------------------------------------

    def _arrive(self, count: int, tx_bytes: int) -> MBarrier:
        more = self._count(self.tx_count + self._operand(tx_bytes))
        if count < 1 or count > self.pending_count:
            raise MBarrierError(
                "arrivals_within_count",
                f"{_times(count)} where {self.pending_count} {'is' if self.pending_count == 1 else 'are'} pending",
                field="count", value=count, limit=self.pending_count,
                fix="count every arrival of a phase in mbarrier.init, and wait for a phase before arriving in the next",
            )  # fmt: skip
        return more._replace(pending_count=self.pending_count - count)._settled()

    def _settled(self) -> MBarrier:
        if self.pending_count or self.tx_count:
            return self
        return self._replace(phase=self.phase + 1, pending_count=self.expected_count)

    def _count(self, tx_count: int) -> MBarrier:
        self._living()
        if not -MOST <= tx_count <= MOST:
            raise MBarrierError(
                "tx_count_range", f"the tx-count would be {tx_count}; it holds {-MOST} to {MOST}", field="tx_count",
                value=tx_count, limit=MOST, fix="split the copies over several barriers or phases",
            )  # fmt: skip
        return self._replace(tx_count=tx_count)

    def _living(self) -> None:
        if not self.valid:
            raise MBarrierError(
                "mbarrier_must_be_initialised", "the barrier was made invalid", field="bar", fix="init it again first"
            )

    @staticmethod
    def _operand(tx_bytes: int) -> int:
        if not 0 <= tx_bytes <= MOST:
            raise MBarrierError(
                "tx_count_range", f"one operation counts 0 to {MOST} bytes", field="bytes", value=tx_bytes, limit=MOST,
                fix="split the copy",
            )  # fmt: skip
        return tx_bytes


def _times(count: int) -> str:
    return f"{count} arrival{'s'[: count != 1]}"
