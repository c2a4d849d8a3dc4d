"""The fault gallery: kernels a few lines from right, what the tool says of each, and what an H200 did.

    entry(name)              title, symptom, both sources, the fix as a diff, the verdict of the public API
    Card(name, observe)      the same with the recorded outcomes, as the book shows it
    Index()                  all of them by symptom

The gallery holds no verdict of its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.gallery.card import Card, Index
    from tmalab.gallery.entries import ENTRIES, GROUPS, entry

_HOMES = {
    "Card": "tmalab.gallery.card",
    "Index": "tmalab.gallery.card",
    "ENTRIES": "tmalab.gallery.entries",
    "GROUPS": "tmalab.gallery.entries",
    "entry": "tmalab.gallery.entries",
}
__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tmalab.gallery' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
