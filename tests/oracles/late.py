"""Late labels once more, straight from their description: a list of what waits, and one row at a time."""

import math

ROWS, TIME = "rows", "time"


class NaiveLate:
    """Rows that wait stand in a list; before a row is scored, all that is due is sorted and learned one by one.

    `delay` is a number (of rows or seconds), `after` likewise (None: never), `rule` is "negative" or "drop".
    `corrections` is "learn" or "ignore". Labels that are expected stand in a list too, until their time has come.
    """

    def __init__(self, model, *, clock=ROWS, delay=0, after=None, rule="drop", classes=(0, 1), corrections="ignore"):
        self.corrections, self.rows = corrections, {}  # rows that have been learned, by key
        self.coming, self.parked = [], {}  # (time, number, key, label); by key: label, and whether it had a time
        self.model, self.clock, self.delay, self.after, self.rule = model, clock, delay, after, rule
        self.classes = list(classes)
        self.waiting = []  # dictionaries: key, position, due, label (None: nobody knows), x, score
        self.fates = {}
        self.position, self.now = 0, -math.inf
        self.counts = dict.fromkeys(
            (
                "scored",
                "learned",
                "as_negatives",
                "dropped",
                "repeated",
                "duplicates",
                "conflicts",
                "too_late",
                "unknown",
                "corrections",
                "parked",
            ),
            0,
        )

    def row(self, x, label, key=None, time=None, delay=None, prompt=False):
        """Score a row whose label (None: nobody knows it) comes late; if `prompt` it is learned at once."""
        moment = self._moment(time)
        self._meet_labels(moment)
        self._learn_due(moment)
        score = self._score(x)
        self.counts["scored"] += 1
        if key is not None and (key in self.fates or any(entry["key"] == key for entry in self.waiting)):
            self.counts["repeated"] += 1
        else:
            wait = self.delay if delay is None else delay
            if label is None and key in self.parked:
                label, had_a_time = self.parked.pop(key)
                self._tell()
                wait, prompt = self.delay, had_a_time or self.delay == 0
            if label is None:
                wait = math.inf if self.after is None else self.after
            entry = {"key": key, "position": self.position, "label": label, "x": x, "score": score}
            if prompt and label is not None:
                self._learn(entry, label)
            else:
                self.waiting.append(entry | {"due": moment + wait})
        self.position += 1
        return score

    def label(self, key, label, time=None):
        """A label that comes by key."""
        if time is not None and self.clock == TIME and time > self.now:
            self._meet_labels(time)
            self.now = time
            self._learn_due(time)
        return self._label(key, label)

    def _label(self, key, label):
        for entry in self.waiting:
            if entry["key"] == key:
                self.waiting.remove(entry)
                self._learn(entry, label)
                return "learned"
        outcome = {None: "unknown", label: "duplicate", "dropped": "too late"}.get(self.fates.get(key), "conflict")
        if outcome == "conflict" and self.corrections == "learn":
            self.counts["corrections"] += 1
            self.counts["learned"] -= 1
            self._learn(self.rows[key], label)
            return "corrected"
        names = {"duplicate": "duplicates", "conflict": "conflicts", "too late": "too_late"}
        self.counts[names.get(outcome, outcome)] += 1
        return outcome

    def expect(self, key, label, time=None):
        """A label that is learned when its row has come, and its time if it has one."""
        if time is not None and time >= self.now:
            self.coming.append((time, len(self.coming), key, label))
            self._tell()
            return "expected"
        return self._known(key, label, time is not None)

    def _known(self, key, label, had_a_time):
        if key in self.fates or any(entry["key"] == key for entry in self.waiting):
            return self._label(key, label)
        if key not in self.parked:
            self.parked[key] = label, had_a_time
            outcome = "expected"
        elif self.parked[key][0] == label:
            self.counts["duplicates"] += 1
            outcome = "duplicate"
        elif self.corrections == "learn":
            self.parked[key] = label, self.parked[key][1]
            self.counts["corrections"] += 1
            outcome = "corrected"
        else:
            self.counts["conflicts"] += 1
            outcome = "conflict"
        self._tell()
        return outcome

    def _tell(self):
        self.counts["parked"] = len(self.parked)

    def _meet_labels(self, moment):
        """Labels become known, in the order of time; first ones for rows that wait are due like any others."""
        while times := [label[0] for label in self.coming if label is not None and label[0] < moment]:
            now = min(times)
            self._learn_due(now)
            events = [(n, label) for n, label in enumerate(self.coming) if label is not None and label[0] == now]
            others = []
            for n, (_, _, key, label) in events:
                self.coming[n] = None
                entry = next((entry for entry in self.waiting if entry["key"] == key), None)
                if entry is not None and entry["label"] is None:
                    entry["label"], entry["due"] = label, now
                else:
                    others.append((key, label))
            self._learn_due(math.nextafter(now, math.inf))
            for key, label in others:
                self._known(key, label, True)
            self._tell()

    def finish(self):
        """Let time run on until nothing waits."""
        self._meet_labels(math.inf)
        self._learn_due(math.inf)
        for entry in self.waiting:
            self._drop(entry)
        self.waiting = []

    def _moment(self, time):
        if self.clock == ROWS:
            return float(self.position)
        if time is not None and math.isfinite(time) and time > self.now:
            self.now = time
        return self.now

    def _learn_due(self, moment):
        due = sorted((e for e in self.waiting if e["due"] < moment), key=lambda e: (e["due"], e["position"]))
        self.waiting = [entry for entry in self.waiting if not entry["due"] < moment]
        for entry in due:
            if entry["label"] is not None:
                self._learn(entry, entry["label"])
            elif self.rule == "negative":
                self.counts["as_negatives"] += 1
                self._learn(entry, self.classes[0])
            else:
                self._drop(entry)

    def _learn(self, entry, label):
        self.counts["learned"] += 1
        if entry["key"] is not None:
            self.fates[entry["key"]], self.rows[entry["key"]] = label, entry
        if not self.model.started_:
            self.model.learn_many(entry["x"][None], [label], scores=[entry["score"]], classes=self.classes)
        else:
            self.model.learn_one(entry["x"], label, score=entry["score"])

    def _drop(self, entry):
        self.counts["dropped"] += 1
        if entry["key"] is not None:
            self.fates[entry["key"]] = "dropped"

    def _score(self, x):
        return self.model.raw_score_one(x) if self.model.started_ else 0.0
