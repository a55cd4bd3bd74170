"""An index that is kept: what a kill, a full disk, a damage or another reader leaves of it."""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from safepassage.schemas import Review, StandingDecision, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on, next_verdict
from safepassage.streams.console.index.index_file import (
    IndexUnwritable,
    Place,
    Position,
    _shape,
)
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.reviewed_verdicts import Outcomes
from safepassage.streams.runtime.local_database import local_database
from tests.streams.console.cases import review, verdict
from tests.streams.doubles import FakePublisher

PLACE = Place("quarantine", 3)
Record = Verdict | Review | StandingDecision


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "console" / "index.sqlite"


def opened(file: Path | None, **changes: object) -> CaseStore:
    made = {"leakage_sample": 0.5, "topics": ("accepted", "quarantine")} | changes
    return CaseStore(made["leakage_sample"], file, made["topics"])  # type: ignore[arg-type]


def note(store: CaseStore, records: Sequence[Record], first: int) -> None:
    """The records of one batch, within its transaction."""
    outcomes = Outcomes(store, FakePublisher(), 15)
    for at, record in enumerate(records, first):
        match record:
            case Verdict():
                outcomes.judged(store.add_verdict(record, at, f"3:{at}"), record)
            case Review():
                outcomes.reviewed(store.add_review(record), record)
            case StandingDecision():
                store.add_decision(record)
        store.move_on(PLACE, at, at, at)


def records_of(seed: int, count: int = 12) -> list[Record]:
    """Verdicts of few cases and several scorers, what people said of them, and what followed."""
    chance = random.Random(seed)
    made: list[Record] = []
    for number in range(count):
        score = chance.choice((0.2, 0.4, 0.9))
        one = verdict(chance.randrange(6), score=score, revision=f"scorer-{chance.randrange(3)}")
        said = review(
            one,
            chance.choice(("supports", "insufficient", "skipped")),
            by=chance.choice(("Ana", "Ben")),
            minute=number,
        )
        made += [one, said] if chance.random() < 0.6 else [one]
        if made[-1] is said and (decided := decision_on(one, [said])):
            follows = next_verdict(one, said, said, None)
            made += [decided, *([follows] if follows else [])]
    chance.shuffle(made)
    return made


def content(store: CaseStore) -> dict[str, list[tuple[object, ...]]]:
    """Every row. Of what is due not when, which is the time at which it was read."""
    names = store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    rows = {
        name: sorted(
            store.connection.execute(f"SELECT * FROM {name}").fetchall(),  # noqa: S608
            key=repr,
        )
        for (name,) in names.fetchall()
    }
    rows["due"] = [row[:1] + row[2:] for row in rows["due"]]
    return rows


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), data=st.data())
def test_an_index_with_any_kills_is_the_one_that_is_read_from_the_beginning(
    tmp_path: Path, seed: int, data: st.DataObject
) -> None:
    records = records_of(seed)
    whole = opened(None)
    with whole.batch():
        note(whole, records, 0)
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    lives, read = 0, 0
    store = opened(folder / "0" / "index.sqlite")
    while read < len(records):
        upto = min(len(records), read + data.draw(st.integers(4, 12)))
        fate = data.draw(st.sampled_from(("lives", "is killed in the batch", "is killed after it")))
        with store.batch():
            note(store, records[read:upto], read)
            if fate == "is killed in the batch":
                lives += 1
                shutil.copytree(folder / f"{lives - 1}", folder / f"{lives}")
        if fate == "is killed after it":
            lives += 1
            shutil.copytree(folder / f"{lives - 1}", folder / f"{lives}")
        if fate != "lives":  # the next life has what was on disk at that moment
            store.close()
            store = opened(folder / f"{lives}" / "index.sqlite")
        positions = store.positions()
        read = positions[PLACE].last + 1 if positions else 0
    assert content(store) == content(whole)
    assert (store.latest, store.sample_rate) == (whole.latest, whole.sample_rate)
    store.close()
    whole.close()


CHILD = """
import sys, time
from pathlib import Path
from tests.streams.console.index.test_index_file import note, opened, records_of
store = opened(Path(sys.argv[1]))
records = records_of(7)
with store.batch():
    note(store, records[:10], 0)
store.connection.execute("PRAGMA cache_size = 1")  # what is not committed is on disk as well
store.connection.execute("BEGIN")
note(store, records[10:20], 10)
print("ready", flush=True)
time.sleep(600)
"""


def test_a_killed_process_leaves_what_it_committed(file: Path) -> None:
    arguments = [sys.executable, "-c", CHILD, str(file)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        with pytest.raises(IndexUnwritable, match=r"another process has .* SAFEPASSAGE_CONSOLE_"):
            opened(file)
        child.send_signal(signal.SIGKILL)
    records, whole = records_of(7), opened(None)
    with whole.batch():
        note(whole, records[:10], 0)
    store = opened(file)
    assert store.positions() == {PLACE: Position(0, 9, 9)}
    assert content(store) == content(whole)
    store.close()
    whole.close()


def test_only_its_owner_reads_the_file(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.parent.chmod(0o755)
    file.touch(0o644)
    store = opened(file)
    with store.batch():
        note(store, records_of(1), 0)
    assert file.parent.stat().st_mode & 0o777 == 0o700
    names = {entry.name: entry.stat().st_mode & 0o777 for entry in file.parent.iterdir()}
    assert names == {"index.sqlite": 0o600, "index.sqlite-wal": 0o600}
    store.close()


def test_what_was_erased_is_on_no_page_of_the_files(file: Path) -> None:
    store = opened(file)
    erased, *others = [verdict(n, doc_id=f"{'canary' if n == 1 else n}") for n in range(1, 40)]
    told = [erased, *others]
    with store.batch():
        note(store, [one for t in told for one in (t, review(t))], 0)
        note(store, [d for t in told if (d := decision_on(t, [review(t)]))], 100)
    case, other = case_id(erased).encode(), case_id(others[0]).encode()
    assert case in on_disk(file)
    store.erase(["canary", "no such document"])
    assert case not in on_disk(file)
    assert b"canary" not in on_disk(file)
    assert other in on_disk(file)
    assert case.decode() not in repr(content(store))
    store.close()


def on_disk(file: Path) -> bytes:
    return b"".join(path.read_bytes() for path in file.parent.iterdir())


def spoil(change: Callable[[sqlite3.Connection], object]) -> Callable[[Path], None]:
    def do(file: Path) -> None:
        connection = sqlite3.connect(file)
        with connection:
            change(connection)
        connection.close()

    return do


def made_with(**changes: object) -> Callable[[Path], None]:
    def change(connection: sqlite3.Connection) -> None:
        (made,) = connection.execute("SELECT value FROM state WHERE name = 'made'").fetchone()
        other = json.dumps(json.loads(made) | changes)
        connection.execute("UPDATE state SET value = ? WHERE name = 'made'", (other,))

    return spoil(change)


SPOILT = {
    "an older layout": (made_with(layout=0), "made with other layout"),
    "events without a field of now": (made_with(events="of then"), "made with other events"),
    "no word on its layout": (
        spoil(lambda c: c.execute("DROP TABLE state")),
        "made with other layout, tables, events, topics, leakage_sample",
    ),
    "of something else": (
        spoil(lambda c: c.executescript("DROP TABLE state; CREATE TABLE state (name, value, x)")),
        "made with other",
    ),
    "no database": (lambda file: file.write_bytes(b"no database" * 500), "damaged"),
    "a torn schema": (
        lambda file: file.write_bytes(file.read_bytes()[:100] + bytes(3996)),
        "damaged",
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_cannot_be_read_on_is_built_anew_with_one_line(
    file: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = opened(file)
    with store.batch():
        note(store, records_of(1), 0)
    store.close()
    change, reason = SPOILT[how]
    change(file)
    store = opened(file)
    said = capsys.readouterr().out
    assert said.count("index_built_anew") == 1
    assert reason in said
    assert "Traceback" not in said
    assert store.positions() == {}
    with store.batch():
        note(store, records_of(1), 0)
    store.close()


def test_prose_about_events_costs_no_new_index_and_a_field_does() -> None:
    class Told(BaseModel):
        """Some prose."""

        title: str = Field(description="more prose")

    class ToldOtherwise(BaseModel):
        """Other prose."""

        title: str

    class Longer(ToldOtherwise):
        page: int = 0

    shapes = [_shape(m.model_json_schema()) for m in (Told, ToldOtherwise, Longer)]
    assert shapes[0] == shapes[1] != shapes[2]


@pytest.mark.parametrize("changes", [{"topics": ("t-accepted",)}, {"leakage_sample": 0.02}])
def test_an_index_of_other_topics_or_another_sample_is_built_anew(
    file: Path, changes: dict[str, object]
) -> None:
    store = opened(file)
    with store.batch():
        note(store, records_of(1), 0)
    store.close()
    same = opened(file)
    assert same.positions()
    same.close()
    other = opened(file, **changes)
    assert other.positions() == {}
    other.close()


def test_a_damage_found_at_work_ends_the_role_and_the_next_start_builds_anew(file: Path) -> None:
    store = opened(file)
    with store.batch():
        note(store, records_of(1, 100), 0)
    roots = store.connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE tbl_name IN ('cases', 'reviews')"
    ).fetchall()
    store.close()
    with file.open("r+b") as pages:  # the schema stays whole
        for (root,) in roots:
            pages.seek((root - 1) * 4096)
            pages.write(b"\xff" * 4096)
    store = opened(file)
    said = pytest.raises(IndexUnwritable, match=r"damaged .* is deleted\. Start again")
    with said, store.batch():
        note(store, records_of(2), 1000)
    assert list(file.parent.iterdir()) == []
    store.close()
    again = opened(file)
    assert again.positions() == {}
    again.close()


def test_a_page_that_could_not_be_made_ends_the_role_as_well(file: Path) -> None:
    store = opened(file)
    with pytest.raises(sqlite3.OperationalError) as caught:
        store.connection.execute("SELECT x FROM nowhere")
    store.failed(caught.value)
    with pytest.raises(IndexUnwritable), store.batch():
        pass
    store.close()


def test_a_full_disk_keeps_what_was_committed(file: Path) -> None:
    store = opened(file)
    with store.batch():
        note(store, [verdict(1)], 0)
    before = content(store)
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    many = [verdict(n, text=f"{n} " * 2000) for n in range(2, 100)]
    said = pytest.raises(IndexUnwritable, match=rf"full.* Make room for {file}.* nothing is lost")
    with said, store.batch():
        note(store, many, 1)
    store.close()
    again = opened(file)
    assert content(again) == before
    again.close()


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "console").write_text("a file")
    with pytest.raises(IndexUnwritable, match="SAFEPASSAGE_CONSOLE_STATE cannot be used"):
        opened(tmp_path / "console" / "index.sqlite")


def test_no_link_is_followed_to_another_file(tmp_path: Path) -> None:
    (tmp_path / "console").mkdir()
    (tmp_path / "other").touch()
    (tmp_path / "console" / "index.sqlite").symlink_to(tmp_path / "other")
    with pytest.raises(IndexUnwritable, match="SAFEPASSAGE_CONSOLE_STATE cannot be used"):
        opened(tmp_path / "console" / "index.sqlite")


@pytest.fixture(params=[False, True], ids=["temporary", "kept"])
def connection(request: pytest.FixtureRequest, file: Path) -> Iterator[sqlite3.Connection]:
    made = local_database(16, file if request.param else None)
    yield made
    made.close()


def test_every_local_database_overwrites_what_it_deletes(connection: sqlite3.Connection) -> None:
    assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    assert connection.execute("PRAGMA cache_size").fetchone() == (-16384,)
