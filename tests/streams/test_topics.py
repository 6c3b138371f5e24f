"""A topic as a source of lines: every message once and in order, wherever it stopped, whoever shares it."""

import json
import sys
import time

import pytest

from brokers import PARTITIONS
from lopsided.streams import Sources, StreamError
from lopsided.streams import kafka as client


def rows(n, first=0):
    return [{"a": number} for number in range(first, first + n)]


def numbers(data):
    return [json.loads(line)["a"] for line in data.splitlines()]


def opened(url, offsets=None, **arguments):
    return Sources([url], **arguments).open(url, offsets)


def read(url, offsets=None, **arguments):
    found = []
    with opened(url, offsets, **arguments) as source:
        while data := source.read(1):
            found += numbers(data)
        return found, source.offsets_at(None)


def test_partitions_are_merged_by_time(kafka):
    url = kafka.send(kafka.topic(), rows(20_000), partition=None)
    assert read(url) == (list(range(20_000)), {str(number): 5000 for number in range(PARTITIONS)})


def test_the_order_within_a_partition_is_kept_and_the_lower_one_is_first(kafka):
    url = kafka.topic()
    kafka.send(url, [{"a": 0}, {"a": 1}], partition=2, first=5)
    kafka.send(url, [{"a": 2}, {"a": 3}], partition=1, first=5)
    kafka.send(url, [{"a": 4}], partition=2, first=1)  # later in its partition, though it says otherwise
    assert read(url)[0] == [2, 0, 3, 1, 4]


def test_any_place_can_be_gone_on_from(kafka):
    url = kafka.send(kafka.topic(), rows(400), partition=None)
    with opened(url) as source:
        data = source.read(1)
        ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
        places = {n: source.offsets_at(0 if not n else ends[n - 1]) for n in (0, 1, 2, 203, 400)}
    for n, offsets in places.items():
        assert read(url, offsets)[0] == list(range(n, 400))


def test_messages_without_a_value_are_passed(kafka):
    url = kafka.send(kafka.topic(), [None, {"a": 0}, None, {"a": 1}, None])
    found, offsets = read(url)
    assert (found, offsets["0"]) == ([0, 1], 5)
    with opened(url) as source:
        source.read(1)
        assert source.offsets_at(9) == {"0": 3, "1": 0, "2": 0, "3": 0}  # the one behind the first row is done with


def test_what_comes_while_it_is_read_is_left_for_the_next_time(kafka):
    url = kafka.send(kafka.topic(), rows(3))
    with opened(url) as source:
        kafka.send(url, rows(2, 3))
        assert numbers(source.read(1)) == [0, 1, 2]
        assert source.read(1) == b""
        assert read(url, source.offsets_at(None))[0] == [3, 4]


def test_a_topic_that_is_followed_gives_what_comes(kafka):
    url = kafka.send(kafka.topic(), rows(3))
    with opened(url, follow=True, idle=60.0) as source:
        assert numbers(source.read(1)) == [0, 1, 2]
        kafka.send(url, rows(2, 3), partition=1, first=3)
        found = numbers(source.read(1))
        while len(found) < 2:
            found += numbers(source.read(1))
    assert found == [3, 4]
    assert read(url, follow=True, idle=0.0)[0] == [0, 1, 2, 3, 4]


def test_the_latest_are_those_that_come_from_now_on(kafka):
    url = kafka.send(kafka.topic(), rows(3))
    found, offsets = read(f"{url}?from=latest")
    assert (found, offsets) == ([], {"0": 3, "1": 0, "2": 0, "3": 0})
    kafka.send(url, rows(2, 3), partition=1, first=3)
    assert read(f"{url}?from=latest", offsets)[0] == [3, 4]


def test_some_partitions(kafka):
    url = kafka.send(kafka.topic(), rows(8), partition=None)
    found, offsets = read(f"{url}?partitions=3,1")
    assert (found, offsets) == ([1, 3, 5, 7], {"1": 2, "3": 2})


def test_a_partition_that_is_far_ahead_is_paused(kafka, monkeypatch):
    monkeypatch.setattr(client, "BLOCK_MESSAGES", 50)
    url = kafka.send(kafka.topic(), rows(1000, 1000), first=1000)
    kafka.send(url, rows(1000), partition=1)
    assert read(url)[0] == list(range(2000))


def test_messages_that_the_broker_has_deleted_are_counted(kafka):
    """The cluster keeps five megabytes of a partition."""
    url = kafka.send(kafka.topic(), [json.dumps({"a": n, "b": "x" * 900_000}).encode() for n in range(9)])
    with opened(url, {"0": 1}) as source:
        found = []
        while data := source.read(1):
            found += numbers(data)
        assert source.n_lost > 0 and found == list(range(1 + source.n_lost, 9))


# ---------------------------------------------------------------- groups


class Member:
    """A consumer of a group that notes what it has read, and makes it safe when it must give partitions away."""

    def __init__(self, url, offsets=None):
        sources = Sources([url], follow=True, idle=0.0)
        self.source = sources.open(url, offsets)
        self.found, self.n_left = [], 0
        sources.leaving = self.leave

    def look(self):
        self.found += numbers(self.source.read(1))

    def save(self):
        self.source.commit(self.source.offsets_at(None))

    def leave(self):
        self.n_left += 1
        self.save()

    @property
    def partitions(self):
        return set(self.source._queues)


def looked(*members, until):
    """Let members of a group look for messages in turn until something is so."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if until():
            return
        for member in members:
            member.look()
        time.sleep(0.01)
    raise AssertionError([(member.partitions, len(member.found)) for member in members])


@pytest.fixture
def impatient(tmp_path, monkeypatch):
    """Settings with which this cluster has a group settle in two seconds."""
    monkeypatch.setattr(client, "_TURN_SECONDS", 0.1)
    path = tmp_path / "group.properties"
    path.write_text("session.timeout.ms=3500\nheartbeat.interval.ms=100\n")
    return path


def test_consumers_of_a_group_share_a_topic(kafka, impatient):
    """What one has made safe is read by no other; what it had only read, by the one that gets its partitions."""
    url = kafka.send(kafka.topic(), rows(400), partition=None)
    shared = f"{url}?group=desk&config={impatient}"
    one = Member(shared)
    looked(one, until=lambda: len(one.found) == 400)
    assert sorted(one.found) == list(range(400)) and kafka.committed(url, "desk")[0] < 0  # nothing is safe yet
    one.save()  # here, because this cluster refuses while partitions change hands; Kafka does not
    assert kafka.committed(url, "desk") == dict.fromkeys(range(PARTITIONS), 100)
    two = Member(shared)
    looked(one, two, until=lambda: len(one.partitions) == len(two.partitions) == PARTITIONS // 2)
    assert one.n_left > 0 and two.found == []  # it was asked to make things safe before the other came
    kafka.send(url, rows(400, 400), partition=None, first=400)
    looked(one, two, until=lambda: len(one.found) == 600 and len(two.found) == 200)
    assert sorted(one.found + two.found) == list(range(800))
    assert sorted(two.found) == [n for n in range(400, 800) if n % PARTITIONS in two.partitions]
    of_two = set(two.partitions)
    one.save()
    two.source.close()  # as if it had crashed: what it has read is in no file
    looked(one, until=lambda: len(one.found) == 800)
    assert sorted(one.found[600:]) == [n for n in range(400, 800) if n % PARTITIONS in of_two]
    one.source.close()


def test_a_member_goes_on_at_its_own_place_if_the_group_knows_an_earlier_one(kafka, impatient):
    url = kafka.send(kafka.topic(), rows(400), partition=None)
    member = Member(f"{url}?group=night&config={impatient}", {"0": 100, "1": 70})
    looked(member, until=lambda: len(member.found) == 230)
    assert sorted(member.found) == [n for n in range(400) if n % 4 > 1 or (n % 4 == 1 and n >= 280)]
    member.source.close()
    with pytest.raises(StreamError, match=r"must begin with what was learned .* of which 101 had been read"):
        looked(other := Member(f"{url}?group=night&config={impatient}", {"0": 101}), until=lambda: other.found)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("url", ["kafka://", "kafka://host", "kafka://host/a/b", "kafka://host/topic?from=now"])
def test_a_topic_has_a_host_and_a_name(url):
    with pytest.raises(StreamError, match="must be kafka://host:port/topic"):
        opened(url)


@pytest.mark.parametrize("query", ["?form=latest", "?group=", "?group"])
def test_what_is_asked_of_a_topic_is_known(query):
    with pytest.raises(StreamError, match="must have from, group, partitions or config with a value"):
        opened(f"kafka://host/topic{query}")


@pytest.mark.parametrize("query", ["?partitions=a", "?partitions=0,", "?partitions=0&group=desk"])
def test_partitions_are_numbers_and_not_those_of_a_group(query):
    with pytest.raises(StreamError, match="must be read by numbers of partitions such as 0,2, or by a group"):
        opened(f"kafka://host/topic{query}")


def test_what_a_broker_does_not_have_is_refused(kafka):
    url = kafka.send(kafka.topic(), rows(1))
    with pytest.raises(StreamError, match=r"^The topic kafka://.*/nothing must be a topic that its broker has, got "):
        opened(f"kafka://{kafka.server}/nothing")
    with pytest.raises(StreamError, match="must be read by partitions that it has, 0 to 3, got 4"):
        opened(f"{url}?partitions=4")
    with pytest.raises(
        StreamError, match=r"must begin with what was learned from it before .* of which 2 had been read"
    ):
        opened(url, {"0": 2})


def test_a_broker_that_does_not_answer_is_refused(monkeypatch):
    monkeypatch.setattr(client, "_ANSWER_SECONDS", 0.5)
    for begin in (opened, client.KafkaSink):
        with pytest.raises(StreamError, match=r"must be a topic of a broker that answers, got .*Connection refused"):
            begin("kafka://127.0.0.1:9/topic")


def test_messages_that_do_not_come_are_not_waited_for_forever(kafka, monkeypatch):
    monkeypatch.setattr(client, "_SILENT_SECONDS", 0.2)
    url = kafka.send(kafka.topic(), rows(1))
    with opened(url) as source:
        source._consumer.pause(source._consumer.assignment())
        with pytest.raises(StreamError, match="must deliver the messages that it has, got none of partition 0 for"):
            source.read(1)


def test_settings_stand_in_a_file(kafka, tmp_path):
    url = kafka.send(kafka.topic(), rows(2))
    settings = tmp_path / "client.properties"
    settings.write_text("# who we are\nclient.id = desk\n\nsocket.timeout.ms=5000\n")
    assert read(f"{url}?config={settings}")[0] == [0, 1]
    settings.write_text("sasl.pasword=secret\n")
    with pytest.raises(StreamError, match=r"must be read and written by settings that librdkafka knows, got .*pasword"):
        opened(f"{url}?config={settings}")
    with pytest.raises(StreamError, match="must be a readable file of settings, got"):
        opened(f"{url}?config={tmp_path}/nothing")


def test_without_a_kafka_client_the_way_to_get_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "lopsided\[kafka\]"'):
        opened("kafka://host:9092/topic")
