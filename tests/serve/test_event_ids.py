"""The index of event ids: every id is found, whatever its hash, however files are merged, lost or broken."""

import random
import threading

import pytest

from lopsided.serve.entries import entry_and_number, place_of
from lopsided.serve.storage import ids, segments
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.storage.ids import EventIds

ALL = 1 << 40  # every entry is in the log


class Log:
    """Ids in memory, as a reader of the log tells them."""

    def __init__(self, names):
        self.names = names
        self.last, self.facts = len(names), {"identity": "0123456789abcdef", "forgotten": 0}

    def fact(self, name):
        return self.facts[name]

    def belongs(self, name, place):
        sequence, number = entry_and_number(place)
        return sequence > self.facts["forgotten"] and self.names[sequence - 1][number] == name

    def ids_between(self, first, last):
        for sequence in range(first, last + 1):
            if sequence > self.facts["forgotten"]:
                own = self.names[sequence - 1]
                yield own, [place_of(sequence, number) for number in range(len(own))]


def _log(n=60, seed=0):
    draw = random.Random(seed)
    return Log([[f"event {k}-{i}" for i in range(draw.randint(1, 4))] for k in range(n)])


def _check(index, log, since=0):
    for sequence, names in enumerate(log.names, 1):
        for number, name in enumerate(names):
            place = place_of(sequence, number)
            assert index.find([name], log.belongs) == [place if sequence > since else None]
    assert index.find(["nobody", log.names[-1][0]], log.belongs) == [None, place_of(len(log.names), 0)]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(EventIds.__init__, "__kwdefaults__", EventIds.__init__.__kwdefaults__ | {"room": 5})
    monkeypatch.setattr(ids, "_FAN_OUT", 3)
    monkeypatch.setattr(ids, "_STRETCH", 7)
    monkeypatch.setattr(segments, "_BLOCK", 2)
    monkeypatch.setattr(segments, "_PIECE", 6)
    ids.hash_of.cache_clear()


def _filled(folder, log, memory):
    index = EventIds.opened(folder, RealDisk(), Log([]), memory)
    for names, places in log.ids_between(1, log.last):
        index.add(names, places)
        index.roll_over()
        while index.tidy(lambda: ALL, 0):
            pass
    return index


@pytest.mark.parametrize("memory", [0, 100, 1 << 20], ids=["no filters", "small filters", "filters"])
@pytest.mark.parametrize("bits", [64, 2])
def test_every_id_is_found(bits, memory, tmp_path, monkeypatch):
    """With two bits of a hash nearly all of them collide; they are the first two, by which files are in order."""
    full_hash = ids.hash_of
    monkeypatch.setattr(ids, "hash_of", lambda name: full_hash(name) >> (64 - bits) << (64 - bits))
    log = _log()
    index = _filled(tmp_path, log, memory)
    _check(index, log)
    assert 1 < len(list(tmp_path.iterdir())) < 9
    assert index.size == sum(path.stat().st_size for path in tmp_path.iterdir())
    _check(EventIds.opened(tmp_path, RealDisk(), log, memory), log)


def test_files_that_are_lost_or_broken_are_made_again(tmp_path):
    log = _log()
    _filled(tmp_path, log, 1 << 20)
    draw = random.Random(1)
    for damage in range(12):
        path = draw.choice(sorted(tmp_path.iterdir()))
        content = bytearray(path.read_bytes())
        match damage % 4:
            case 0:
                path.unlink()
            case 1:
                path.write_bytes(content[: draw.randrange(len(content))])
            case 2:
                content[-30] ^= 1
                path.write_bytes(content)
            case 3:  # a crash between the writing of one and the removal of those that it replaces
                (tmp_path / f"{1:020d}-{2:020d}.ids").write_bytes(content)
        _check(EventIds.opened(tmp_path, RealDisk(), log), log)


def test_a_file_of_another_log_or_of_its_lost_end_is_not_used(tmp_path):
    log = _log()
    _filled(tmp_path, log, 1 << 20)
    shorter = Log(log.names[:20])
    _check(EventIds.opened(tmp_path, RealDisk(), shorter), shorter)
    other = _log(seed=2)
    other.facts["identity"] = "f" * 16
    _check(EventIds.opened(tmp_path, RealDisk(), other), other)


def test_what_may_not_be_stored_yet_is_in_no_file(tmp_path):
    index = EventIds(tmp_path, RealDisk(), "0" * 16, room=1)
    for sequence in range(1, 9):
        index.add([str(sequence)], [place_of(sequence, 0)])
        index.roll_over()
    assert index.tidy(lambda: 7, 0)
    assert sorted(path.name[-6:-4] for path in tmp_path.iterdir()) == ["01", "02", "03", "04", "05", "06", "07"]
    assert index.find(["8", "9"], lambda *_: True) == [place_of(8, 0), None]


def test_forgotten_events_take_their_files_along(tmp_path):
    log = _log()
    index = _filled(tmp_path, log, 1 << 20)
    before = index.size
    log.facts["forgotten"] = 50
    while index.tidy(lambda: ALL, 50):
        pass
    assert index.size < before / 2
    _check(index, log, since=50)
    _check(EventIds.opened(tmp_path, RealDisk(), log), log, since=50)


def test_the_filter_lets_few_strangers_through(tmp_path):
    index = EventIds(tmp_path, RealDisk(), "0" * 16, room=4000)
    names = [f"a{k}" for k in range(4000)]
    index.add(names, [place_of(1, k) for k in range(4000)])
    index.roll_over()
    index.tidy(lambda: 1, 0)
    asked = []
    assert index.find([f"b{k}" for k in range(4000)], lambda *place: asked.append(place)) == [None] * 4000
    assert not asked  # equal hashes
    (segment,) = index._known.segments
    hashes = [ids.hash_of(f"b{k}") for k in range(4000)]
    files, _ = index._known.filters.hits(ids.np.array(hashes, dtype=ids.np.uint64))
    assert len(files) < 0.08 * 4000 and segment.has_filter


def test_filters_have_a_memory_that_is_taken_once(tmp_path):
    log, memory = _log(200), 1 << 12
    index = EventIds(tmp_path, RealDisk(), "0" * 16, memory=memory)
    assert index._memory._halves == ()  # before there is a file
    halves, asked = None, set()
    for names, places in log.ids_between(1, log.last):
        index.add(names, places)
        index.roll_over()
        while index.tidy(lambda: ALL, 0):
            now = tuple(map(id, index._memory._halves))
            assert halves in (None, now)
            halves = now
            asked.add(id(index._known.filters.words))
            for segment in index._known.segments:  # which lies where it is asked
                assert segment.words is segments.ANY or segment.words.base is index._known.filters.words
    assert asked == set(halves)  # in turn
    assert sum(half.nbytes for half in index._memory._halves) == memory + 2 * segments.ANY.nbytes
    _check(index, log)


def test_ids_are_found_while_files_are_written_and_merged(tmp_path):
    log = _log(400)
    index = EventIds(tmp_path, RealDisk(), "0" * 16, memory=1 << 14)
    ended, wrong = threading.Event(), []

    def tidy():
        while not ended.is_set():
            index.tidy(lambda: ALL, 0)

    thread = threading.Thread(target=tidy)
    thread.start()
    try:
        for sequence, names in enumerate(log.names, 1):
            index.add(names, [place_of(sequence, number) for number in range(len(names))])
            index.roll_over()
            for known in range(max(1, sequence - 60), sequence + 1, 7):
                if index.find([log.names[known - 1][0]], log.belongs) != [place_of(known, 0)]:
                    wrong.append(known)
    finally:
        ended.set()
        thread.join()
    assert not wrong
