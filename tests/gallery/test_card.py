"""The card and the index: everything an entry has, escaped, and volatile where another machine counts otherwise."""

from __future__ import annotations

import re

import pytest

from tmalab.gallery import ENTRIES, Card, Index
from tmalab.recordings.observe import observe


@pytest.fixture(scope="module")
def card():
    return Card("expect-too-many", lambda case: observe(case, live=False))


def test_a_card_holds_verdict_counts_fix_and_provenance(card):
    html = card._repr_html_()
    assert 'id="gallery-expect-too-many"' in html
    assert '<b class="tma-fault" data-word="hang">hang</b>' in html
    assert "4096 are missing" in html
    assert f"Past the deadline in all {card.broken['runs']} runs." in html
    assert '<span data-line="removed">-    mbarrier_arrive_expect_tx(&amp;full_barrier, ROWS * COLUMNS * 4);' in html
    assert f"{card.observation.provenance.line().removesuffix(' · 3 runs')} · 3 launches of each</p>" in html
    assert '<a href="https://github.com/tile-ai/tilelang/issues/2644">tile-ai/tilelang#2644</a>' in html
    assert card.fits()
    assert repr(card) == "Card('expect-too-many')"


def test_what_differs_from_machine_to_machine_is_marked(card):
    html = card._repr_html_()
    kept = re.sub(r"<section data-volatile>.*?</section>|<p [^>]*data-volatile>.*?</p>", "", html)
    assert "H200 (sm_90)" not in kept
    assert str(card.broken["runs"]) not in kept


@pytest.mark.parametrize("found", ENTRIES, ids=lambda found: found.id)
def test_every_card_is_well_formed(found):
    html = Card(found.id, lambda case: observe(case, live=False))._repr_html_()
    for tag in ("div", "dl", "dt", "dd", "p", "pre", "span", "section", "details", "header"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag
    assert len(html) < 12_000


def test_the_index_links_every_card():
    links = re.findall(r'href="#gallery-([\w-]+)"', Index()._repr_html_())
    assert links == [found.id for found in ENTRIES]
