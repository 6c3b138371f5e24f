"""The same streams for River, scikit-learn, Vowpal Wabbit and lopsided, each by its own interface, one row at a time.

    python benchmarks/coming_from.py

Every row is scored, then learned. AUC and average precision (AP) are those of all scores of the stream; us a row is
the time of the processor for both, with what the interface needs: dictionaries are there for River, arrays for
scikit-learn and lopsided, and Vowpal Wabbit's lines of text are written on the way, since that is how it is called.
Nothing is tuned: what needs numbers of one scale is behind a scaler that learns on the way.
"""

from __future__ import annotations

import time

import numpy as np
from river import forest, linear_model, preprocessing, tree
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from vowpalwabbit import Workspace

import lopsided as lp
from lopsided.adapters.river import RiverFourierRanker, RiverRareEventClassifier
from lopsided.metrics import auroc, average_precision

MOST_ROWS = 20_000
STREAMS = {
    "page-blocks0": lambda: lp.datasets.load_keel("page-blocks0"),
    "card_stream": lambda: lp.datasets.card_stream(),
    "random_rbf": lambda: lp.datasets.random_rbf(MOST_ROWS, rare=0.02),
}


class ByRiver:
    """A model of River, or one of ours behind its interface."""

    def __init__(self, model):
        self.model = model

    def row(self, x):
        return {f"x{k}": value for k, value in enumerate(x.tolist())}

    def score(self, x):
        return self.model.predict_proba_one(x).get(True, 0.0)

    def learn(self, x, y):
        self.model.learn_one(x, y)


class ByScikitLearn:
    """A scaler and a linear model, both by partial_fit."""

    def __init__(self):
        self.scaler, self.model = StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)

    def row(self, x):
        return x[None]

    def score(self, x):
        self.scaler.partial_fit(x)
        return self.model.decision_function(self.scaler.transform(x))[0] if hasattr(self.model, "coef_") else 0.0

    def learn(self, x, y):
        self.model.partial_fit(self.scaler.transform(x), [y], classes=[False, True])


class ByVowpalWabbit:
    """Lines of text, as its command line reads them; its steps do not depend on the scale of a feature."""

    def __init__(self, options):
        self.model = Workspace(f"--loss_function logistic --quiet {options}")

    def row(self, x):
        return x

    def score(self, x):
        self.text = "|f " + " ".join(f"x{k}:{value:.6g}" for k, value in enumerate(x.tolist()))
        return self.model.predict(self.text)

    def learn(self, x, y):
        self.model.learn(f"{1 if y else -1} {self.text}")


class ByLopsided:
    """A learner of ours on arrays."""

    def __init__(self, model):
        self.model = model

    def row(self, x):
        return x

    def score(self, x):
        return self.model.raw_score_one(x) if self.model.started_ else 0.0

    def learn(self, x, y):
        self.model.learn_one(x, y)


def scaled(model):
    return preprocessing.StandardScaler() | model


CONTESTANTS = {
    "River LogisticRegression, scaled": lambda: ByRiver(scaled(linear_model.LogisticRegression())),
    "River HoeffdingTreeClassifier": lambda: ByRiver(tree.HoeffdingTreeClassifier()),
    "River ARFClassifier, 3 trees": lambda: ByRiver(forest.ARFClassifier(n_models=3, seed=0)),
    "scikit-learn SGDClassifier, scaled": ByScikitLearn,
    "Vowpal Wabbit, linear": lambda: ByVowpalWabbit(""),
    "Vowpal Wabbit, pairs of features": lambda: ByVowpalWabbit("--interactions ff"),
    "OPAUC, scaled": lambda: ByLopsided(lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC(learning_rate=0.0003))),
    "KOIL, scaled": lambda: ByLopsided(
        lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(C=10, gamma="auto", random_state=0))
    ),
    "FourierRanker": lambda: ByLopsided(lp.FourierRanker(random_state=0)),
    "RareEventClassifier": lambda: ByLopsided(lp.RareEventClassifier(random_state=0)),
    "RiverFourierRanker": lambda: ByRiver(RiverFourierRanker(random_state=0)),
    "RiverRareEventClassifier": lambda: ByRiver(RiverRareEventClassifier(random_state=0)),
}


def run(contestant, rows, labels):
    """Scores of all rows, and seconds a row."""
    scores = np.zeros(len(labels))
    score, learn = contestant.score, contestant.learn
    start = time.process_time()
    for t, (x, y) in enumerate(zip(rows, labels, strict=True)):
        scores[t] = score(x)
        learn(x, y)
    return scores, (time.process_time() - start) / len(labels)


def main():
    streams = {}
    for name, load in STREAMS.items():
        stream = load()
        streams[name] = stream.X[:MOST_ROWS], (stream.y[:MOST_ROWS] == 1).tolist()
        rows, labels = streams[name]
        print(f"{name}: {len(labels):,} rows, {rows.shape[1]} features, {sum(labels)} positives")
    print("\n| | " + " | ".join(f"{name}: AUC | AP | us a row" for name in streams) + " |")
    print("|---|" + "---|" * (3 * len(streams)))
    for name, make in CONTESTANTS.items():
        cells = []
        for X, labels in streams.values():
            warm = make()
            run(warm, [warm.row(x) for x in X[:300]], labels[:300])  # what is compiled is compiled now
            contestant = make()
            scores, seconds = run(contestant, [contestant.row(x) for x in X], labels)
            y = np.array(labels)
            cells += [f"{auroc(y, scores):.3f}", f"{average_precision(y, scores):.3f}", f"{1e6 * seconds:.0f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
