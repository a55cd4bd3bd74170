"""Progress where nobody watches a terminal."""

from safepassage.streams.cli import label_options as labelled
from safepassage.streams.cli.label_options import (
    SECONDS_BETWEEN_LINES,
    progress_bars,
    progress_lines,
)


def _shown(capsys, clock, steps) -> list[str]:
    """The lines after ``steps`` of (seconds, stage, done, total)."""
    on_progress = progress_lines(lambda: clock[0])
    for seconds, *step in steps:
        clock[0] = seconds
        on_progress(*step)
    return capsys.readouterr().err.splitlines()


def test_a_stage_has_a_line_when_it_is_done(capsys):
    steps = [(0, "a on b", 0, 2), (1, "a on b", 1, 2), (2, "a on b", 2, 2), (3, "a on b", 2, 2)]
    assert _shown(capsys, [0.0], steps) == ["a on b: 2 of 2"]


def test_a_long_stage_has_a_line_every_half_minute(capsys):
    steps = [(seconds, "slow", seconds, 1_000) for seconds in range(2 * SECONDS_BETWEEN_LINES + 1)]
    assert _shown(capsys, [0.0], steps) == ["slow: 30 of 1000", "slow: 60 of 1000"]


def test_a_stage_that_comes_again_is_told_again(capsys):
    steps = [(0, "read", 9, 9), (1, "read", 1, 4), (2, "read", 4, 4)]
    assert _shown(capsys, [0.0], steps) == ["read: 9 of 9", "read: 4 of 4"]


def test_what_was_known_already_is_said_too(capsys):
    assert _shown(capsys, [0.0], [(0, "kept", 4, 4)]) == ["kept: 4 of 4"]


def test_lines_are_for_where_there_is_no_terminal(capsys):
    assert not labelled.complain.is_terminal
    with progress_bars() as on_progress:
        on_progress("stage", 1, 1)
    assert capsys.readouterr().err == "stage: 1 of 1\n"
