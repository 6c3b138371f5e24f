"""A Kafka cluster inside of the test process: librdkafka's own, which speaks the real protocol on the loopback."""

import json

import confluent_kafka

PARTITIONS = 4  # of every topic of such a cluster


class Cluster:
    """Its address, and a producer and readers for tests."""

    def __init__(self):
        self._producer = confluent_kafka.Producer(
            {"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0}
        )
        brokers = self._producer.list_topics(timeout=30).brokers.values()
        self.server = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
        self._n_topics = 0

    def topic(self, name="events"):
        """The address of a topic that nobody else uses."""
        self._n_topics += 1
        return f"kafka://{self.server}/{name}-{self._n_topics}"

    def send(self, url, rows, *, partition=0, first=0):
        """Each row as a message: an object, or bytes; to one partition, or to all in turn (None)."""
        topic = url.partition("?")[0].rpartition("/")[2]
        for number, row in enumerate(rows, start=first):
            value = row if row is None or isinstance(row, bytes) else json.dumps(row).encode()
            at = number % PARTITIONS if partition is None else partition
            self._producer.produce(topic, value=value, partition=at, timestamp=1_700_000_000_000 + number)
            self._producer.poll(0)
        assert self._producer.flush(30) == 0
        return url

    def committed(self, url, group):
        """How far a group says that it has got, by partition."""
        topic = url.partition("?")[0].rpartition("/")[2]
        places = [confluent_kafka.TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.server, "group.id": group, "log_level": 0})
        found = {place.partition: place.offset for place in consumer.committed(places, timeout=30)}
        consumer.close()
        return found
