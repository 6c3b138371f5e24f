"""Reading in a thread of its own: the same items, errors in their place, and no thread that stays behind."""

import threading

import pytest

from lopsided.feeds.reading_ahead import read_ahead


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "reading ahead"]


def test_the_items_and_their_order_are_the_same():
    assert list(read_ahead(iter(range(1000)))) == list(range(1000))
    assert list(read_ahead(iter(()))) == [] and not threads()


def test_items_are_made_by_another_thread_and_no_more_than_two_ahead():
    made, makers = [], set()

    def items():
        for number in range(50):
            made.append(number)
            makers.add(threading.current_thread())
            yield number

    for number in read_ahead(items()):
        assert len(made) <= number + 3  # the one in hand, one that waits, one that is being made
    assert made == list(range(50)) and threading.main_thread() not in makers


def test_what_goes_wrong_is_raised_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise ValueError("line 3")

    taken = []
    with pytest.raises(ValueError, match="line 3"):
        for item in read_ahead(items()):
            taken.append(item)
    assert taken == [1, 2] and not threads()


def test_whoever_stops_early_leaves_no_thread_behind():
    ended = threading.Event()

    def items():
        try:
            yield from range(1_000_000)
        finally:
            ended.set()

    ahead = read_ahead(items())
    assert next(ahead) == 0
    ahead.close()
    assert not threads()
    del ahead
    assert ended.wait(5.0)
