"""`Entry`: one broken kernel, a few lines from right: what is seen, the two versions of its file, and their difference.

    hardware/gallery/NAME.cu ─▶ text("broken"), text("fixed") ─▶ verdict (public API)      diff() (computed)
                             └▶ case ─▶ observe(case) ─▶ outcomes of both on an H200

An entry holds no verdict. It says in words what an engineer sees, and which public reports are of this kind.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache

from tmalab.experiment.case import Case
from tmalab.experiment.gallery_cases import gallery_case
from tmalab.gallery.verdict import Verdict, verdict_of
from tmalab.hardware.compile import kernel_sources
from tmalab.hardware.kernel_file import version, without_events

_CONTEXT_LINES = 2


@dataclass(frozen=True)
class Entry:
    """`symptom` is one sentence for the one who looks for his fault; `reports` are owner/repository#number."""

    id: str
    title: str
    symptom: str
    reports: tuple[str, ...] = ()
    remark: str = ""

    @property
    def case(self) -> Case:
        """What runs both versions."""
        return gallery_case(self.id)

    @property
    def kernel(self) -> str:
        """The kernel's name, as `kernel_sources` takes it."""
        return str(self.case.params["kernel"])

    def text(self, version_name: str) -> str:
        """The broken or the fixed file, the model's events beside its lines."""
        return version(kernel_sources(self.kernel)[f"{self.kernel}.cu"], broken=version_name == "broken")

    def source(self, version_name: str) -> str:
        """The same as it is compiled and shown, without events."""
        return without_events(self.text(version_name))

    def diff(self) -> list[str]:
        """The fix: a unified diff of the two sources, from its first hunk on."""
        lines = difflib.unified_diff(
            self.source("broken").splitlines(), self.source("fixed").splitlines(), lineterm="", n=_CONTEXT_LINES
        )
        return list(lines)[2:]

    def verdict(self, version_name: str) -> Verdict:
        """What the public API says of that version."""
        return _verdict(self.text(version_name))


@lru_cache(maxsize=128)
def _verdict(text: str) -> Verdict:
    return verdict_of(text)
