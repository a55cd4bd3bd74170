"""States in 8-bit numbers: likeness as of the states themselves, equal in every batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from safepassage.scoring_worker.memory.states import States, quantised, read, written

VECTORS = arrays(np.float64, 24, elements=st.floats(-20, 20))
STATES = arrays(np.int8, 768, elements=st.integers(-127, 127))


@given(VECTORS)
def test_eight_bits_keep_the_direction(vector):
    state = quantised(vector)
    most = np.abs(vector).max()
    if most == 0:
        assert not state.any()
    else:
        assert np.abs(state / 127 * most - vector).max() <= most / 127


@given(STATES)
def test_a_state_is_read_as_it_was_written(state):
    assert (read(written(state)) == state).all()


@given(st.lists(STATES, min_size=1, max_size=4), STATES)
def test_a_likeness_does_not_depend_on_who_is_beside(rows, asked):
    together = States(rows).likeness(asked)
    alone = [float(States([row]).likeness(asked)[0]) for row in rows]
    assert together.tolist() == alone
    assert all(-1 <= value <= 1 for value in alone)


@given(STATES)
def test_a_state_is_most_like_itself(state):
    assert States([state]).likeness(state)[0] == (1.0 if state.any() else 0.0)
