"""Bulk async groups of one thread: which stores a `wait_group` waits for.

    store store commit │ store commit │ store          wait_group 1: all but the newest 1 of the committed groups
        group 0             group 1     in no group    wait_group 0 waits for groups 0 and 1, never for the third

>>> groups = BulkGroups().store("a").store("b").commit().store("c").commit().store("d")
>>> groups.covered(1), groups.covered(0), groups.open
(('a', 'b'), ('a', 'b', 'c'), ('d',))

`.read` waits until the sources were read, and not until the data is in global memory. A group is its own thread's: no
other thread's `wait_group` knows it. Source: PTX ISA, *cp.async.bulk.commit_group*, *cp.async.bulk.wait_group*.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class BulkGroups(NamedTuple):
    """The groups of one thread, oldest first; `open` are stores that no `commit_group` followed yet."""

    committed: tuple[tuple[Any, ...], ...] = ()
    open: tuple[Any, ...] = ()

    def store(self, store: Any) -> BulkGroups:
        """A bulk store is issued."""
        return self._replace(open=(*self.open, store))

    def commit(self) -> BulkGroups:
        """`cp.async.bulk.commit_group`: the open stores become one group; with none it is an empty group."""
        return BulkGroups((*self.committed, self.open))

    def covered(self, n: int) -> tuple[Any, ...]:
        """The stores that are done when `wait_group n` returns."""
        return tuple(store for group in self.committed[: max(len(self.committed) - n, 0)] for store in group)

    def needed_n(self, store: Any) -> int | None:
        """The largest n whose `wait_group` covers the store; None where it is in no group."""
        for newer, group in enumerate(reversed(self.committed)):
            if store in group:
                return newer
        return None
