"""HTML from Python values: what is text stays text, whatever stands in it.

    tag("td", "a < b", class_="mono")  ──▶  <td class="mono">a &lt; b</td>

>>> str(tag("p", "box_dim[0] ", tag("b", "<b>"), None, id="x"))
'<p id="x">box_dim[0] <b>&lt;b&gt;</b></p>'

A page shows what somebody pasted, or was sent in a link. Nothing becomes markup but what `tag` and `join` made.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias


class Markup(str):
    """HTML that is finished: `tag` does not escape it again."""

    __slots__ = ()


Child: TypeAlias = str | None


def tag(name: str, *children: Child, **attributes: str | None) -> Markup:
    """An element. A child or attribute that is None is left out; `class_` is class, `data_x` is data-x."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{said}>{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Markup:
    """Several things one after the other, each escaped unless it is markup."""
    parts = (child if isinstance(child, Markup) else escape(child) for child in children if child is not None)
    return Markup("".join(parts))


def breakable(word: str) -> Markup:
    """A long identifier that a narrow column may break after each underscore and dot."""
    return Markup(escape(word).replace("_", "_<wbr>").replace(".", ".<wbr>"))
