"""Late labels once more, straight from their description: a list of what waits, and one row at a time."""

import math

ROWS, TIME = "rows", "time"


class NaiveLate:
    """Rows that wait stand in a list; before a row is scored, all that is due is sorted and learned one by one.

    `delay` is a number (of rows or seconds), `after` likewise (None: never), `rule` is "negative" or "drop".
    """

    def __init__(self, model, *, clock=ROWS, delay=0, after=None, rule="drop", classes=(0, 1)):
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
            ),
            0,
        )

    def row(self, x, label, key=None, time=None, delay=None, prompt=False):
        """Score a row whose label (None: nobody knows it) comes late; if `prompt` it is learned at once."""
        moment = self._moment(time)
        self._learn_due(moment)
        score = self._score(x)
        self.counts["scored"] += 1
        if key is not None and (key in self.fates or any(entry["key"] == key for entry in self.waiting)):
            self.counts["repeated"] += 1
        else:
            wait = self.delay if delay is None else delay
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
            self.now = time
            self._learn_due(time)
        for entry in self.waiting:
            if entry["key"] == key:
                self.waiting.remove(entry)
                self._learn(entry, label)
                return "learned"
        outcome = {None: "unknown", label: "duplicate", "dropped": "too late"}.get(self.fates.get(key), "conflict")
        names = {"duplicate": "duplicates", "conflict": "conflicts", "too late": "too_late"}
        self.counts[names.get(outcome, outcome)] += 1
        return outcome

    def finish(self):
        """Let time run on until nothing waits."""
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
            self.fates[entry["key"]] = label
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
