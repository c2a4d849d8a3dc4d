"""What the reader gets: three ways of counting, against bytes that the model made and bytes that were changed."""

import pytest

from tmalab.errors import InputError
from tmalab.figures import ReaderFigure
from tmalab.figures.reader import READERS, read_places


def wrong(figure: ReaderFigure, **state) -> int:
    for name, value in state.items():
        setattr(figure, name, value)
    return len(figure.wrong())


def test_only_the_line_is_right_everywhere(stand_in):
    figure = ReaderFigure(stand_in())
    for base in range(0, 1025, 128):
        assert wrong(figure, writer="128B", reader="line", base=base) == 0
        assert wrong(figure, reader="row", base=base) == (0 if base % 1024 == 0 else 64)
        assert wrong(figure, writer="none", reader="nothing", base=base) == 0


def test_a_linear_reader_of_a_swizzled_tile_gets_one_row_right(stand_in):
    figure = ReaderFigure(stand_in())
    assert wrong(figure, writer="128B", reader="nothing", base=0) == 56
    assert figure.sentence() == (
        "Row 3, chunk 5: the reader looks at shared byte 464 and finds row 3, chunk 6. 56 of 64 chunks are wrong."
    )
    head, rows = figure.table()
    assert rows[3 * 8 + 5] == ["row 3, chunk 5", "464", "row 3, chunk 6", "wrong"]
    assert figure.data()["table"][0] == dict(zip(head, rows[0], strict=True))


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_looks_at_each_place_once(reader):
    assert all(sorted(read_places(reader, base)) == list(range(64)) for base in range(0, 1025, 128))


def test_it_reads_the_recorded_bytes_and_not_the_model(stand_in):
    figure = ReaderFigure(stand_in(change={"tile/128B/r0/c0/b0": [(480, 0xFF)]}))
    assert wrong(figure, reader="line") == 1
    assert figure.got[3 * 8 + 5] == -1
    assert "finds no chunk of the tile" in figure.sentence()
    assert wrong(figure, base=128) == 0


def test_a_state_without_a_recording_says_so(stand_in):
    figure = ReaderFigure(stand_in(missing={"tile/128B/r0/c0/b128"}))
    assert figure.source().startswith("Recorded on NVIDIA H200")
    figure.base = 128
    assert figure.source() == "Model, not measured: there is no recording of this state."
    assert wrong(figure, reader="line") == 0


def test_the_still_and_the_html_name_the_state(stand_in):
    figure = ReaderFigure(stand_in())
    assert figure.svg().count("✗") == 56
    assert "H200" not in figure.svg()
    assert 'data-tma-page="reader"' in figure.html()
    assert repr(figure) == "ReaderFigure(writer='128B', reader='nothing', base=0, cell=(3, 5))"


@pytest.mark.parametrize("state", [{"writer": "64B"}, {"reader": "by guess"}, {"base": 64}, {"cell": (8, 0)}])
def test_a_state_that_it_does_not_have_is_an_error(stand_in, state):
    with pytest.raises(InputError, match=next(iter(state))):
        ReaderFigure(stand_in(), **state)
