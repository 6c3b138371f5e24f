"""Commands over topics: what they learn, score and keep is what they do with files, whatever happens on the way."""

import json
import os
import signal
import time

import numpy as np

import lopsided as lp
from cli.processes import forked
from lopsided.estimators.state.files import load_attached

LEARN = ("--learner", "koil", "--set", "gamma=0.5", "--set", "budget=40", "--checkpoint", "1024")
COLUMNS = ("--label", "y", "--time", "when", "--id", "id")


def events(n, first=0):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(first + n, 2)).round(4)
    y = (X[:, 0] * X[:, 1] > 1.0).astype(int)
    return [
        {"id": f"e{row}", "a": float(X[row, 0]), "b": float(X[row, 1]), "when": 60 * row, "y": int(y[row])}
        for row in range(first, first + n)
    ]


def apart(rows, delay=6000):
    """The same without labels, and the labels, known so many seconds later; in the order in which they are known."""
    return (
        [{name: value for name, value in row.items() if name != "y"} for row in rows],
        [{"id": row["id"], "y": row["y"], "known": row["when"] + delay} for row in rows],
    )


def ndjson(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def bits(path):
    return lp.load(path).to_bytes()


def whole(path):
    """The model, and all that its file holds but where its sources are."""
    model, attached = load_attached(path)
    facts = {name: part.description for name, part in attached.items() if name not in ("feed", "labels")}
    arrays = {
        f"{name}/{key}": np.asarray(value).tobytes()
        for name, part in attached.items()
        for key, value in part.arrays.items()
    }
    return model.to_bytes(), facts, arrays


def offsets(path, part="feed"):
    (mark,) = load_attached(path)[1][part].description["bookmarks"]
    return mark["offsets"]


def test_a_topic_is_learned_as_a_file_is(kafka, lopsided, tmp_path):
    rows = events(3072)
    url = kafka.send(kafka.topic(), rows[:2048], partition=None)
    file = ndjson(tmp_path / "rows.ndjson", rows)
    assert lopsided("learn", file, *COLUMNS, *LEARN, "-o", "file").returncode == 0
    done = lopsided("learn", url, *COLUMNS, *LEARN, "-o", "topic")
    assert done.returncode == 0 and offsets("topic") == dict.fromkeys("0123", 512)
    assert "2,048, " in done.stdout
    kafka.send(url, rows[2048:], partition=None, first=2048)
    done = lopsided("learn", url, "--resume", "topic")
    assert "continues after the 2,048 rows that were read before" in done.stderr
    assert whole("topic") == whole("file") and offsets("topic") == dict.fromkeys("0123", 768)
    assert "nothing new to learn" in lopsided("learn", url, "--resume", "topic").stdout


def killed(folder, *arguments):
    """Run a command as a process of its own, and kill it after its first checkpoint."""
    process = forked(folder, *arguments)
    deadline = time.monotonic() + 100
    while not (folder / "m").exists() and process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.join(100)
    assert process.exitcode == -signal.SIGKILL, (folder / "said").read_text()


def test_a_run_that_was_killed_goes_on_to_the_same_bytes(kafka, lopsided, tmp_path):
    """Rows and labels of two topics of four partitions: no message is lost, none comes twice."""
    rows, labels = apart(events(4000))
    url = kafka.send(kafka.topic(), rows, partition=None)
    told = kafka.send(kafka.topic("labels"), labels, partition=None)
    command = ("learn", url, "--labels", told, "--label-time", "known", *COLUMNS, *LEARN)
    assert lopsided(*command, "-o", "undisturbed").returncode == 0
    killed(tmp_path, *command, "-o", "m")
    assert 0 < lp.load("m").n_seen_ < 4000
    done = lopsided("learn", url, "--labels", told, "--resume", "m")
    assert done.returncode == 0, done.stderr
    assert whole("m") == whole("undisturbed")
    assert (offsets("m"), offsets("m", "labels")) == (dict.fromkeys("0123", 1000),) * 2


def test_labels_of_a_topic_are_learned_as_those_of_a_file(kafka, lopsided, tmp_path):
    """Late ones, corrections, repeated ones, and some that never come."""
    rows, labels = apart(events(1500))
    labels = [label for number, label in enumerate(labels) if number % 5]
    labels += [label | {"y": 1 - label["y"], "known": label["known"] + 900} for label in labels[::40]]
    labels += labels[::50]
    url, told = kafka.send(kafka.topic(), rows, partition=None), kafka.topic("labels")
    options = (*COLUMNS, *LEARN, "--label-time", "known", "--unlabelled", "negative:3h")
    in_files = ndjson(tmp_path / "rows.ndjson", rows), ndjson(tmp_path / "labels.ndjson", labels)
    kafka.send(told, labels, partition=None)
    assert lopsided("learn", in_files[0], "--labels", in_files[1], *options, "-o", "file").returncode == 0
    done = lopsided("learn", url, "--labels", told, *options, "-o", "topic")
    assert whole("topic") == whole("file")
    assert "labels repeated" in done.stdout and "corrected" in done.stdout and "as negative" in done.stdout
    assert lopsided("learn", url, "--labels", told, "--resume", "topic").returncode == 0
    assert whole("topic") == whole("file")
    kafka.send(told, [{"id": "e0", "y": 1, "known": 10}, {"id": "e1", "y": 1, "known": 99_000}], first=10_000)
    done = lopsided("learn", url, "--labels", told, "--resume", "topic", "--json")
    counts = {name: json.loads(done.stdout)["late"][name] for name in ("learned", "corrections")}
    assert counts["corrections"] == whole("file")[1]["late"]["counts"]["corrections"] + 1


def test_labels_are_learned_as_they_come(kafka, lopsided, tmp_path):
    """Both topics are followed: a label is learned when it comes, and one that comes before its row is kept for it."""
    rows, labels = apart(events(600))
    url, told = kafka.send(kafka.topic(), rows[:300]), kafka.send(kafka.topic("labels"), labels[:10])
    command = ("learn", url, "--labels", told, *COLUMNS, *LEARN[:-1], 20, "--follow")

    process = forked(tmp_path, *command, "-o", "m")

    def is_learned(n):
        if not (tmp_path / "m").exists():
            return False
        return load_attached(tmp_path / "m")[1]["late"].description["counts"]["learned"] >= n

    def until(n):
        deadline = time.monotonic() + 100
        while not is_learned(n) and process.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert is_learned(n), (tmp_path / "said").read_text()

    until(10)
    kafka.send(told, labels[10:400], first=10)  # no row comes with them, and a hundred are of rows to come
    until(300)
    kafka.send(url, rows[300:], first=300)
    until(400)
    os.kill(process.pid, signal.SIGKILL)
    process.join(100)
    kafka.send(told, labels[400:], first=400)
    done = lopsided("learn", url, "--labels", told, "--resume", "m", "--json")
    found = json.loads(done.stdout)
    assert (found["late"]["learned"], found["late"]["duplicates"], found["waiting"]) == (600, 0, 0)
    assert found["rows_measured"] == 600 and offsets("m", "labels")["0"] == 600 and offsets("m")["0"] == 600


def test_rows_and_labels_that_come_twice_are_learned_once(kafka, lopsided, tmp_path):
    rows, labels = apart(events(800))
    again = [row for number, row in enumerate(rows) for _ in range(1 + (number % 7 == 0))]
    twice = [label for number, label in enumerate(labels) for _ in range(1 + (number % 9 == 0))]
    for name, these, those in (("once", rows, labels), ("twice", again, twice)):
        url, told = kafka.send(kafka.topic(), these), kafka.send(kafka.topic("labels"), those)
        done = lopsided("learn", url, "--labels", told, "--label-time", "known", *COLUMNS, *LEARN, "-o", name)
        assert done.returncode == 0, done.stderr
    counts = whole("twice")[1]["late"]["counts"]
    assert (counts["learned"], counts["repeated"], counts["duplicates"]) == (800, 115, 89)
    once, twice = lp.load("once").final_learner, lp.load("twice").final_learner
    assert twice.n_seen_ == once.n_seen_ == 800


def test_scores_and_alerts_go_to_a_topic(kafka, lopsided, tmp_path):
    rows = events(1500)
    url, out, alerts = kafka.send(kafka.topic(), rows, partition=None), kafka.topic("scores"), kafka.topic("alerts")
    lopsided("learn", url, *COLUMNS, *LEARN, "-o", "m")
    assert lopsided("score", "m", url, "-o", "scores.ndjson").returncode == 0
    expected = [json.loads(line) for line in (tmp_path / "scores.ndjson").read_text().splitlines()]
    done = lopsided("score", "m", url, "-o", out)
    assert f"1,500 rows scored into {out}" in done.stderr
    assert sorted(received(out), key=by_id) == sorted(expected, key=by_id)
    done = lopsided("score", "m", url, "--alerts-only", "-o", alerts, "--keep", "id", "--json")
    flagged = [{name: row[name] for name in ("id", "score", "predicted")} for row in expected if row["score"] > 0]
    assert 0 < len(flagged) == json.loads(done.stderr.splitlines()[-1])["alerts"] < 400
    sent = [{name: row[name] for name in ("id", "score", "predicted")} for row in received(alerts)]
    assert sorted(sent, key=by_id) == sorted(flagged, key=by_id)


def by_id(row):
    return row["id"]


def received(url):
    from lopsided.streams import Sources

    with Sources([url]).open(url) as source:
        data = b""
        while more := source.read(1):
            data += more
    return [json.loads(line) for line in data.splitlines()]


def test_a_group_is_told_what_has_been_saved_or_scored(kafka, lopsided, tmp_path):
    (tmp_path / "group").write_text("session.timeout.ms=3500\nheartbeat.interval.ms=100\n")
    url = kafka.send(kafka.topic(), events(600), partition=None)
    lopsided("learn", f"{url}?group=desk&config=group", *COLUMNS, *LEARN, "-o", "m")
    assert kafka.committed(url, "desk") == {int(number): at for number, at in offsets("m").items()}
    assert set(offsets("m").values()) == {150}
    kafka.send(url, events(3, 600), first=600)
    out = kafka.topic("scores")
    assert lopsided("score", "m", f"{url}?group=desk&config=group", "-o", out).returncode == 0
    assert sorted(row["id"] for row in received(out)) == ["e600", "e601", "e602"]
    assert kafka.committed(url, "desk") == {0: 153, 1: 150, 2: 150, 3: 150}


def test_what_cannot_be(kafka, refused, lopsided, tmp_path):
    url = kafka.send(kafka.topic(), events(30))
    labels = ndjson(tmp_path / "labels.ndjson", [{"id": "e0", "y": 1}, {"id": "e1", "y": 0}])
    learn = ("learn", url, *COLUMNS, "-o", "m")
    assert "must name topics if it comes with --follow" in refused(*learn, "--labels", labels, "--follow")
    both = ("--labels", url, "--follow", "--labels-for", "alerts", "--explore", 0.1)
    assert "--labels-for alerts must come without --follow and --labels" in refused(*learn, *both)
    assert "--output must be a file in a directory" in refused("learn", url, "-o", url)
    assert lopsided("learn", url, *COLUMNS, *LEARN, "-o", "m").returncode == 0
    assert "The output must be ndjson for a topic" in refused("score", "m", url, "-o", url, "--format", "csv")
    assert "must come without --follow" in refused("evaluate", url, "--id", "id", "--labels", url, "--follow")
    kafka.send(url, [b"{]"], first=30)
    wrong = f"The row in message 30 of partition 0 of {url} must be one JSON object"
    assert refused("learn", url, "--resume", "m").startswith(wrong)
