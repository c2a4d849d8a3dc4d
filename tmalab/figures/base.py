"""What a figure is made of in Python: one anywidget with two hosts, and a still for where neither runs.

    a kernel is there      widget-view        JupyterLab runs _esm; traits are synced both ways
    no kernel, a page      text/html          state as JSON; static/host.js mounts the same code
    no JavaScript          text/html          a drawn still, the sentence, the provenance, a table

Whatever a run on another machine may change (GPU, driver, date) stands in elements marked `data-volatile`, and
nowhere else: a regression run compares the rest byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import quote

import anywidget
import traitlets

from tmalab.errors import InputError
from tmalab.figures.bundle import bundle_css, standalone_page


class Choice(traitlets.TraitType[Any, Any]):
    """A trait that takes one of `values`; anything else is an InputError that lists them."""

    def __init__(self, values: Iterable[Any]):
        self.values = tuple(values)
        super().__init__(self.values[0])
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> Any:
        """`value` as it stands among the values: a list from the page is a tuple here."""
        wanted = tuple(value) if isinstance(value, list) else value
        for allowed in self.values:
            if type(allowed) is type(wanted) and allowed == wanted:
                return allowed
        shown = ", ".join(map(str, self.values)) if len(self.values) <= 16 else f"{self.values[0]} to {self.values[-1]}"
        raise InputError("not one of the figure's states", field=self.name, value=value, fix=f"use one of {shown}")


class PageWidget(anywidget.AnyWidget):
    """A widget that also lives in a page without a kernel: `name` is its module in static/, `spec` plain JSON.

    `spec["title"]` names it to a screen reader and must differ between two on a page. A child gives `fallback`.
    """

    name: ClassVar[str]
    state_names: ClassVar[tuple[str, ...]] = ()
    _css = bundle_css()
    spec = traitlets.Dict().tag(sync=True)
    provenance = traitlets.Dict().tag(sync=True)
    page: str | None = None

    @property
    def state(self) -> dict[str, Any]:
        """The traits that the reader can change."""
        return {name: getattr(self, name) for name in self.state_names}

    def fallback(self) -> str:
        """What the page shows until the widget stands, or without JavaScript, as HTML."""
        raise NotImplementedError

    def html(self) -> str:
        """The text/html form: everything that a page needs to show it, but for the bundle's script and style."""
        page = "" if self.page is None else f' data-tma-page="{escape(self.page)}"'
        return (
            f'<div class="tma-host" data-tma-esm="{self.name}"{page} data-tma-title="{escape(self.spec["title"])}">\n'
            f'<script type="application/json">{_json({**self.state, "spec": self.spec})}</script>\n'
            f'<script type="application/json" data-volatile>{_json({"provenance": self.provenance})}</script>\n'
            f'<div class="tma">\n{self.fallback()}\n</div>\n</div>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**view, "text/plain": repr(self), "text/html": self.html()}, metadata

    def __repr__(self) -> str:
        state = ", ".join(f"{name}={value!r}" for name, value in self.state.items())
        return f"{type(self).__name__}({state})"


class Figure(PageWidget):
    """The base of all figures. `page` names the figure's own page in the book (`figures/PAGE.html`), None for none.

    `draws_times` says that the picture itself is made of times: another run has others, so all of it is volatile.
    """

    draws_times: ClassVar[bool] = False

    def __init__(self, *, page: str | None = None, **traits: Any):
        super().__init__(**traits)
        self.page = page

    def svg(self) -> str:
        """The still: the figure in its present state, drawn. Nothing in it may change from machine to machine."""
        raise NotImplementedError

    def sentence(self) -> str:
        """What the still shows, in words."""
        raise NotImplementedError

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        raise NotImplementedError

    def data(self) -> dict[str, Any]:
        """The present state as plain JSON: what the figure's download gives."""
        raise NotImplementedError

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The present state as a table of texts: its head, its rows."""
        raise NotImplementedError

    def more_tables(self) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        """What else the picture shows, beyond what `table` says: caption, head and rows of each further table."""
        return ()

    def fallback(self) -> str:
        """The still, the sentence, the provenance and the tables."""
        title, sentence = escape(self.spec["title"]), escape(self.sentence())
        tables = [_table(title, *self.table())]
        tables += [_table(escape(caption), head, rows) for caption, head, rows in self.more_tables()]
        still = (
            f'<img class="tma-still" alt="{title}: {sentence}" src="{_data_uri(self.svg())}">\n'
            f'<p class="tma-say">{sentence}</p>\n'
            f'<p class="tma-foot" data-volatile>{escape(self.source())}</p>\n'
            f'<details class="tma-text"><summary>The same as a table</summary>{"".join(tables)}</details>'
        )
        return f"<section data-volatile>\n{still}\n</section>" if self.draws_times else still

    def save(self, path: str | Path) -> None:
        """Write the figure: `.svg` its picture, `.json` its data, `.html` a page of its own that needs nothing else."""
        path = Path(path)
        forms: dict[str, Callable[[], str]] = {
            ".svg": self.svg,
            ".json": lambda: json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n",
            ".html": lambda: standalone_page(self.spec["title"], self.html()),
        }
        if path.suffix not in forms:
            raise InputError(
                "unknown kind of file", field="path", value=str(path), fix=f"use one of {', '.join(forms)}"
            )
        path.write_text(forms[path.suffix](), encoding="utf-8")


class FoundState(Protocol):
    """What a figure has to say in one state, found in its `spec` and `provenance`."""

    @property
    def source(self) -> str:
        """Where it was measured, or that it was not."""

    def sentence(self) -> str:
        """What is to be said of it."""

    def data(self) -> Any:
        """All that is drawn of it, as plain JSON."""

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The same as texts: a head, and rows."""


class FoundFigure(Figure):
    """A figure that draws and says what its `_found` has found. A child gives that, and `svg`."""

    @property
    def _found(self) -> FoundState:
        raise NotImplementedError

    def sentence(self) -> str:
        """What the present state has to say."""
        return self._found.sentence()

    def source(self) -> str:
        """Where the present state was measured, or that it was not."""
        return self._found.source

    def data(self) -> dict[str, Any]:
        """The present state: all that is drawn of it."""
        return {
            "schema": self.spec["schema"], "figure": self.name, "title": self.spec["title"], "state": self.state,
            "provenance": self.source(), **self._found.data(),
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The present state as texts."""
        return self._found.table()


def _json(value: Any) -> str:
    # In a page, "</script>" and "<!--" would end or change the script that holds the text.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _data_uri(svg: str) -> str:
    # An image, since notebook viewers let those through where they take inline SVG out.
    return "data:image/svg+xml," + quote(svg, safe=" !$'()*+,-./:;=?@[]^_`{|}~")


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{caption}</caption><thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table>"
