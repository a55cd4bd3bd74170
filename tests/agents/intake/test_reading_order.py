"""Reading order: every word once, columns one after another, tables row by row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from safepassage.agents.intake.composition import compose
from safepassage.agents.intake.limits import Limits, Refused
from safepassage.agents.intake.page_words import Group, Page, Rectangle, Word, turned
from safepassage.agents.intake.reading_order import read
from safepassage.passages.surroundings import DocumentLayout
from safepassage.schemas import PageSize, Span

SIZE = PageSize(600, 800)
LETTER = 6.0


def line(text: str, left: float, top: float, height: float = 10) -> list[Word]:
    """The words of ``text``, six units a letter."""
    words = []
    for part in text.split(" "):
        width = LETTER * len(part)
        words.append(Word(part, Rectangle(left, top, left + width, top + height)))
        left += width + LETTER
    return words


def text_of(words: list[Word], turn: int = 0, size: PageSize = SIZE) -> str:
    return compose([Page(size, (Group(words, turn),))], Limits()).text


def column(lines: list[str], left: float, top: float) -> list[Word]:
    return [w for n, text in enumerate(lines) for w in line(text, left, top + 14 * n)]


LEFT = [
    "the tenant shall pay the rent on",
    "the first day of each month and",
    "keep the house in good order",
    "for as long as the lease runs",
]
RIGHT = [
    "the landlord shall insure the roof",
    "against fire and storm and shall",
    "let the tenant know of it",
    "once in every calendar year",
]

words = st.builds(
    lambda text, x, y, w, h: Word(text, Rectangle(x, y, x + w, y + h)),
    st.text("abcxyz0123", min_size=1, max_size=6),
    st.floats(0, 500),
    st.floats(0, 700),
    st.floats(0.1, 90),
    st.floats(0.1, 90),
)


@given(st.lists(words, max_size=40))
def test_every_word_is_read_once(found: list[Word]) -> None:
    read_words = [word for row in read(found) for cell in row.cells for word in cell]
    assert sorted(map(id, read_words)) == sorted(map(id, found))


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 30), st.integers(1, 9)), max_size=40))
def test_every_word_of_running_text_is_read_once(rows: list[tuple[int, int, int]]) -> None:
    found = [w for left, n, length in rows for w in line(" ".join(["word"] * length), left, 14 * n)]
    read_words = [word for row in read(found) for cell in row.cells for word in cell]
    assert sorted(map(id, read_words)) == sorted(map(id, found))


@given(st.lists(words, max_size=25), st.sampled_from([0, 90, 180, 270]))
def test_every_region_holds_its_word(found: list[Word], turn: int) -> None:
    composition = compose([Page(SIZE, (Group(found, turn),))], Limits())
    regions = composition.layout.regions
    assert sorted(composition.text[r.start : r.end] for r in regions) == sorted(
        w.text for w in found
    )
    assert all(r.right <= SIZE.width and r.bottom <= SIZE.height for r in regions)


@given(st.floats(0, 600), st.floats(0, 800), st.sampled_from([0, 90, 180, 270]))
def test_turning_there_and_back_is_nothing(x: float, y: float, turn: int) -> None:
    box = Rectangle(x, y, x + 5, y + 7)
    side = SIZE if turn % 180 == 0 else PageSize(SIZE.height, SIZE.width)
    back = turned(turned(box, SIZE, turn), side, (360 - turn) % 360)
    assert all(abs(a - b) < 1e-6 for a, b in zip(back, box, strict=True))


def test_two_columns_are_read_one_after_the_other() -> None:
    page = line("LEASE OF THE HOUSE AT THE HARBOUR", 200, 40)
    page += column(LEFT, 50, 100) + column(RIGHT, 330, 103)
    expected = "\n".join(["LEASE OF THE HOUSE AT THE HARBOUR", "", *LEFT, "", *RIGHT])
    assert text_of(page) == expected


def test_the_order_in_which_words_are_named_does_not_matter() -> None:
    page = column(LEFT, 50, 100) + column(RIGHT, 330, 103)
    assert text_of(page[::-1]) == text_of(page)


def test_a_table_keeps_rows_and_empty_cells() -> None:
    rows = [("Charge", "Amount", "Due"), ("Rent", "1,250", "May"), ("Deposit", "", "June")]
    page = [
        w
        for n, row in enumerate(rows)
        for left, cell in zip((50, 250, 400), row, strict=True)
        if cell
        for w in line(cell, left, 100 + 16 * n)
    ]
    text = text_of(page)
    assert text == "Charge\tAmount\tDue\nRent\t1,250\tMay\nDeposit\t\tJune"
    at = text.index("June")
    (around,) = DocumentLayout(text).around([Span(start=at, end=at + 4, text="June")])
    assert around.label is not None
    assert around.label.text == "Deposit"
    assert around.column is not None
    assert around.column.text == "Due"


def test_a_cell_of_two_lines_stays_one_cell() -> None:
    page = line("Charge", 50, 100) + line("Terms", 200, 100) + line("Amount", 450, 100)
    page += line("Rent", 50, 118) + line("paid on the first", 200, 118) + line("1,250", 450, 118)
    page += line("day of each month", 200, 130)
    page += line("Deposit", 50, 150) + line("paid once", 200, 150) + line("2,500", 450, 150)
    assert text_of(page).splitlines()[1:] == [
        "Rent\tpaid on the first day of each month\t1,250",
        "Deposit\tpaid once\t2,500",
    ]


def test_labels_of_a_form_stand_before_their_values() -> None:
    page = line("Tenant:", 50, 100) + line("Ann Lee", 200, 100)
    page += line("Born:", 50, 118) + line("3 May 1980", 200, 118)
    assert text_of(page) == "Tenant: Ann Lee\nBorn: 3 May 1980"


def test_a_paragraph_begins_after_a_blank_line() -> None:
    page = column(LEFT, 50, 100) + column(RIGHT, 50, 190)
    assert text_of(page) == "\n".join(LEFT) + "\n\n" + "\n".join(RIGHT)


def test_a_page_that_lies_on_its_side_reads_as_upright() -> None:
    upright = column(LEFT, 50, 100)
    lying = [Word(w.text, turned(w.box, SIZE, 270)) for w in upright]
    assert text_of(lying, 90, PageSize(800, 600)) == "\n".join(LEFT)


def test_a_script_from_right_to_left_is_read_so() -> None:
    words = [
        Word("שלום", Rectangle(300, 100, 340, 110)),
        Word("עולם", Rectangle(250, 100, 290, 110)),
    ]
    assert text_of(words) == "שלום עולם"


def test_too_long_a_text_is_refused_and_not_cut() -> None:
    page = Page(SIZE, (Group(column(LEFT, 50, 100)),))
    try:
        compose([page] * 3, Limits(characters=200))
    except Refused as refusal:
        assert "200" in str(refusal)  # noqa: PT017
    else:
        raise AssertionError("not refused")
