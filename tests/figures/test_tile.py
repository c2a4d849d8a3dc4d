"""Figure 1 as a widget: its states, its still, and a text/html that a regression run can compare."""

import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from tmalab.errors import InputError, TmaLabError
from tmalab.experiment.catalogue import tile_figure_case
from tmalab.figures import TileFigure

VOLATILE = re.compile(r"<(\w+)[^>]*\bdata-volatile\b[^>]*>.*?</\1>")


@pytest.fixture(scope="module")
def figure(stand_in):
    return TileFigure(stand_in())


def still(figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg())


def texts(figure, *kinds: str) -> list[str]:
    found = still(figure).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in found if text.get("class") in kinds]


def paths(figure) -> list[ElementTree.Element]:
    return sorted(still(figure).iter("{http://www.w3.org/2000/svg}path"), key=lambda path: path.get("fill"))


# --- states ----------------------------------------------------------------------------------------------------------


def test_it_begins_with_the_widest_swizzle_as_the_hardware_left_it(figure):
    assert repr(figure) == "TileFigure(swizzle='128B', row=0, col=0, base=0, view='hardware', cell=(3, 5))"


@pytest.mark.parametrize(
    ("field", "value"),
    [("swizzle", "96B"), ("swizzle", None), ("row", 1), ("row", True), ("row", 3.0), ("col", "8"), ("base", 64),
     ("base", 1152), ("view", "both"), ("cell", (8, 0)), ("cell", 3)],
)  # fmt: skip
def test_a_state_that_it_does_not_have_is_refused_with_those_it_has(stand_in, figure, field, value):
    with pytest.raises(InputError, match=f"{field}=.*Fix: use one of") as caught:
        TileFigure(stand_in(), **{field: value})
    assert isinstance(caught.value, TmaLabError)
    with pytest.raises(InputError):
        setattr(figure, field, value)


def test_the_page_may_set_a_cell_as_a_list(figure):
    other = TileFigure(None)
    other.set_trait("cell", [2, 7])
    assert other.cell == (2, 7)


# --- the still -------------------------------------------------------------------------------------------------------


def test_the_still_labels_every_chunk_on_both_sides(figure):
    labels, small = texts(figure, "label"), texts(figure, "small")
    assert sorted(labels) == sorted([str(column) for column in range(8)] * 16)
    assert sorted(map(int, small)) == sorted([16 * chunk for chunk in range(64)] * 2)
    assert figure.sentence() == (
        "Row 3, column 5 → chunk 5 of line 3 XOR 3 = 6 → shared byte 480, banks 24–27. "
        "0 of 64 chunks differ from the model."
    )


@pytest.mark.parametrize(("view", "words"), [("hardware", ["0x81", "diff"]), ("difference", ["0x81", "≠ 08"])])
def test_a_flipped_byte_shows_in_the_still_as_a_word_and_a_dash(stand_in, view, words):
    figure = TileFigure(stand_in({"tile/128B/r0/c0/b0": [(16, 0x81)]}), view=view)
    found = texts(figure, "plain", "soft")
    assert all(word in found for word in words)
    # one on its tint in the tensor, one on none in shared memory; equal ones keep their tint but in the difference view
    assert [path.get("fill") for path in paths(figure) if path.get("class") == "wrong"] == ["#99ddff", "none"]
    assert (len(texts(figure, "label")) == 1) == (view == "difference")
    assert "1 of 64 chunks differs" in figure.sentence()
    model_view = TileFigure(stand_in({"tile/128B/r0/c0/b0": [(16, 0x81)]}), view="model")
    assert "wrong'" not in model_view.svg()


def test_bytes_beyond_the_drawn_lines_bring_their_line_with_them(stand_in):
    plain, changed = TileFigure(stand_in()), TileFigure(stand_in({"tile/128B/r0/c0/b0": [(3071, 0)]}))
    assert texts(plain, "soft").count("2944") == 0
    assert texts(changed, "soft").count("2944") == 1
    assert "1 of 65 chunks differs" in changed.sentence()


def test_what_was_not_measured_says_so():
    figure = TileFigure(None)
    assert "model, not measured" in "".join(texts(figure, "head"))
    assert "Model, not measured" in figure.sentence()
    assert "Model, not measured" in figure.source()
    assert {entry["hardware"] for entry in figure.data()["table"]} == {"not measured"}


# --- text/html -------------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags, self.open, self.scripts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("img", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def test_the_html_is_whole_and_holds_state_still_sentence_and_table(figure):
    page = _Page(figure.html())
    host = dict(page.tags)["div"]
    tags = [tag for tag, _ in page.tags]
    attributes = page.tags[0][1]
    assert attributes["data-tma-esm"] == attributes["data-tma-page"] == "tile"
    assert host is not None
    state = json.loads(page.scripts[0])
    assert (state["swizzle"], state["cell"], state["spec"]) == ("128B", [3, 5], json.loads(json.dumps(figure.spec)))
    assert json.loads(page.scripts[1]) == {"provenance": figure.provenance}
    image = next(attrs for tag, attrs in page.tags if tag == "img")
    assert unquote(image["src"].removeprefix("data:image/svg+xml,")) == figure.svg()
    assert image["alt"].endswith(figure.sentence())
    assert tags.count("tr") == 1 + 64
    assert "style" not in tags


def test_text_from_outside_cannot_end_the_script(stand_in):
    title = '</script><script>alert("1")</script><!-- & '
    page = _Page(TileFigure(stand_in(), title=title).html())
    assert len(page.scripts) == 2
    assert json.loads(page.scripts[0])["spec"]["title"] == title


def test_two_runs_give_the_same_bytes(stand_in):
    one, other = (TileFigure(stand_in())._repr_mimebundle_()[0] for _ in range(2))
    assert one["text/html"] == other["text/html"]
    assert one["text/plain"] == other["text/plain"] == repr(TileFigure(stand_in()))
    assert "application/vnd.jupyter.widget-view+json" in one


def test_another_machine_changes_volatile_elements_only(stand_in):
    provenance = stand_in()(tile_figure_case("none", 0, 0, 0)).provenance
    elsewhere = stand_in(provenance=replace(provenance, gpu="NVIDIA H100 NVL", date="2031-05-05"), source="live")
    one, other = TileFigure(stand_in()).html(), TileFigure(elsewhere).html()
    assert one != other
    assert VOLATILE.sub("", one) == VOLATILE.sub("", other)
    assert "H200" not in VOLATILE.sub("", one)


def test_the_data_that_a_page_carries_is_small(figure):
    assert len(gzip.compress(figure.html().encode(), 6)) <= 20_000


# --- files -----------------------------------------------------------------------------------------------------------


def test_it_saves_its_picture_its_data_and_a_page(figure, tmp_path):
    for suffix in (".svg", ".json", ".html"):
        figure.save(tmp_path / f"tile{suffix}")
    assert (tmp_path / "tile.svg").read_text("utf-8") == figure.svg()
    data = json.loads((tmp_path / "tile.json").read_text("utf-8"))
    assert (data["schema"], data["figure"], len(data["table"])) == (1, "tile", 64)
    assert data["provenance"].startswith("Recorded on NVIDIA H200 (sm_90)")
    assert data["table"][0] == {"shared_byte": 0, "banks": "0–3", "hardware": [0, 0], "model": [0, 0], "equal": True}
    assert figure.html() in (tmp_path / "tile.html").read_text("utf-8")
    with pytest.raises(InputError, match=r"use one of \.svg, \.json, \.html"):
        figure.save(tmp_path / "tile.png")
