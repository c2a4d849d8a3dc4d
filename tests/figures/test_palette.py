"""The tints are the ones that were chosen, they carry the text that stands on them, and they stand in one place."""

import re
from itertools import product
from pathlib import Path

import pytest

from tmalab.figures import bundle
from tmalab.figures.palette import INKS, ON_TINT, TINTS, palette_css, tint

CHOSEN = ["#77aadd", "#99ddff", "#44bb99", "#bbcc33", "#eedd88", "#ee8866", "#ffaabb", "#c9b3e6"]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_tints_are_the_books_and_repeat_after_eight():
    assert list(TINTS) == CHOSEN
    assert [tint(column) for column in range(16)] == CHOSEN * 2


@pytest.mark.parametrize("colour", TINTS)
def test_a_tint_carries_its_text(colour):
    assert contrast(colour, ON_TINT) >= 4.5


@pytest.mark.parametrize(("ink", "scheme"), list(product(("ink", "soft", "accent", "warn"), (0, 1))))
def test_each_ink_is_readable_on_card_and_paper(ink, scheme):
    for ground in ("card", "paper"):
        assert contrast(INKS[ink][scheme], INKS[ground][scheme]) >= 4.5


def test_no_other_file_holds_a_colour():
    """Style sheets and scripts take every colour from the palette's properties."""
    for path in bundle.STATIC.iterdir():
        assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?![-\w])", path.read_text("utf-8")), path.name


def test_every_property_that_a_style_sheet_uses_is_the_palettes_or_its_own():
    css = bundle.bundle_css()
    assert set(re.findall(r"var\((--tma-[\w-]+)", css)) <= set(re.findall(r"(--tma-[\w-]+):", palette_css()))


def test_static_files_are_where_the_package_looks():
    assert {path.name for path in Path(bundle.STATIC).iterdir()} >= {"base.css", "host.js", "kit.js", "geometry.js"}
