"""The index of event ids: every id is found, whatever its hash, and nothing is merged before it has been stored."""

import pytest

from lopsided.serve.storage import ids
from lopsided.serve.storage.ids import EventIds, merged


@pytest.mark.parametrize("bits", [64, 2])
def test_every_id_is_found(bits, monkeypatch):
    """With two bits of a hash nearly all of them collide."""
    full_hash = ids.hash_of
    monkeypatch.setattr(ids, "hash_of", lambda name: full_hash(name) & ((1 << bits) - 1))
    names = [f"event {k}" for k in range(100)]
    index = EventIds(lambda name, place: names[place] == name, room=5)
    for place, name in enumerate(names):
        index.add([name], [place])
        index.full()
        small = index.to_merge(1 << 62)
        if small:
            index.replace(small, merged(small))
    assert index.find(names) == list(range(100))
    assert index.find(["nobody"]) == [None]


def test_what_may_not_be_stored_yet_is_not_merged():
    index = EventIds(lambda name, place: True, room=1)
    for place in range(8):
        index.add([str(place)], [place])
        index.full()
    assert index.to_merge(7) == []
    assert [segment.number for segment in index.to_merge(8)] == list(range(8))
