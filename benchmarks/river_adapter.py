"""What the adapter for River costs a row: each learner by itself on arrays, and behind River's interface on dicts.

    python benchmarks/river_adapter.py

Both go through the same rows of 20 features in turn; the least of several rounds, time of the processor.
"""

import time

import numpy as np

import lopsided as lp
from lopsided.adapters.river import RiverClassifier

N_ROWS, N_FEATURES, ROUNDS, WARM_UP = 2_000, 20, 7, 1_000
LEARNERS = {
    "OnlinePerceptron": lp.OnlinePerceptron,
    "OPAUC": lp.OPAUC,
    "KOIL": lp.KOIL,
    "FourierRanker": lp.FourierRanker,
    "RareEventClassifier": lp.RareEventClassifier,
}


def stream():
    rng = np.random.default_rng(0)
    y = rng.random(WARM_UP + N_ROWS) < 0.1
    X = rng.normal(size=(y.size, N_FEATURES)) + 0.5 * y[:, None]
    names = [f"feature{k}" for k in range(N_FEATURES)]
    return X, [dict(zip(names, row.tolist(), strict=True)) for row in X], y.tolist()


def seconds(call, rows, labels):
    start = time.process_time()
    for x, y in zip(rows, labels, strict=True):
        call(x, y)
    return (time.process_time() - start) / len(labels)


def scored(score):
    return lambda x, y: score(x)


def main():
    X, dictionaries, y = stream()
    rest = slice(WARM_UP, None)
    print(f"us a row at {N_FEATURES} features, least of {ROUNDS} rounds of {N_ROWS:,} rows\n")
    print("| learner | learn_one | RiverClassifier | more | with 4 spare columns | raw_score_one | score_one | more |")
    print("|---|---|---|---|---|---|---|---|")
    for name, kind in LEARNERS.items():
        found = np.full((ROUNDS, 5), np.inf)
        for n in range(ROUNDS):
            own = kind(random_state=0) if "random_state" in kind().get_params() else kind()
            adapters = [RiverClassifier(own, spare=spare) for spare in (0, 4)]
            for adapter in adapters:
                seconds(adapter.learn_one, dictionaries[:WARM_UP], y[:WARM_UP])
            seconds(own.learn_one, X[:WARM_UP], y[:WARM_UP])
            found[n, 0] = seconds(own.learn_one, X[rest], y[rest])
            found[n, 1] = seconds(adapters[0].learn_one, dictionaries[rest], y[rest])
            found[n, 2] = seconds(adapters[1].learn_one, dictionaries[rest], y[rest])
            found[n, 3] = seconds(scored(own.raw_score_one), X[rest], y[rest])
            found[n, 4] = seconds(scored(adapters[0].score_one), dictionaries[rest], y[rest])
        own_learn, plain, spare, own_score, score = 1e6 * found.min(axis=0)
        cells = own_learn, plain, plain - own_learn, spare, own_score, score, score - own_score
        print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
