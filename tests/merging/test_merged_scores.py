"""What merged models say, against sums and averages written down once more."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm
from sklearn.base import clone

import lopsided as lp
from lopsided.datasets import four_clusters, overlapping
from lopsided.metrics import auroc

STREAM = four_clusters(900, random_state=3)
X, Y = STREAM.X, STREAM.y
SIZES = (300, 100, 200)


def models_of(make, X=X, y=Y, sizes=SIZES):
    """Models of parts of different sizes, the others like the first."""
    models, start = [], 0
    for size in sizes:
        model = lp.empty_like(models[0]) if models else make
        models.append(model.partial_fit(X[start : start + size], y[start : start + size], classes=[0, 1]))
        start += size
    return models


def averaged(models, rows):
    shares = np.array(SIZES) / sum(SIZES)
    return shares @ np.array([model.raw_scores(rows) for model in models])


AVERAGES = [
    lp.OnlinePerceptron(fit_intercept=True),
    lp.OCS(),
    lp.OPAUC(rank=3, random_state=0),
    lp.OAM(budget=10, random_state=0),
    lp.FOGD(n_components=30, random_state=0),
    lp.NOGD(budget=700, gamma=20.0),
    lp.KOIL(policy="unbounded", gamma=20.0),
    lp.KernelPerceptron(gamma=20.0),
    lp.KernelPA(gamma=20.0),
    lp.NORMA(gamma=20.0),
    lp.SPA(gamma=20.0, random_state=0),
    lp.SPA(gamma=20.0, average=False, random_state=0),
    lp.OSKL(gamma=20.0, random_state=0),
]


@pytest.mark.parametrize("learner", AVERAGES, ids=[" ".join(str(of).split()) for of in AVERAGES])
def test_where_nobody_leaves_the_score_is_the_average_by_rows(learner):
    models = models_of(learner)
    merged = lp.merge(models)
    assert merged.raw_scores(X[600:]) == pytest.approx(averaged(models, X[600:]), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_vectors_of_others_make_their_step_where_their_margin_is_too_small(weight):
    """KernelOGD in plain arithmetic: the first model, then the vectors of the others from old to new."""

    def kernel(one, other):
        return np.exp(-20.0 * np.sum((one - other) ** 2))

    def learned(vectors, rows, labels):
        for x, label in zip(rows, labels, strict=True):
            y = 2.0 * label - 1.0
            if y * sum(w * kernel(z, x) for z, w in vectors) < 1.0:
                vectors.append((x, 0.1 * weight * y))
        return vectors

    rows, labels, sizes = X[:150], Y[:150], (70, 50, 30)
    models, naive, start = [], [], 0
    for size in sizes:
        part, start = slice(start, start + size), start + size
        model = lp.empty_like(models[0]) if models else lp.KernelOGD(gamma=20.0)
        models.append(model.partial_fit(rows[part], labels[part], classes=[0, 1], sample_weight=[weight] * size))
        naive.append(learned([], rows[part], labels[part]))
    merged, (first, *others) = lp.merge(models), naive
    shown = sorted(
        ((len(vectors) - t) / len(vectors) - 0.5 / len(vectors), -place, *vector)
        for place, vectors in enumerate(others)
        for t, vector in enumerate(vectors)
    )[::-1]
    learned(first, [x for *_, x, _ in shown], [int(w > 0) for *_, w in shown])
    assert merged.n_support_ == len(first) < sum(model.n_support_ for model in models)
    expected = [sum(w * kernel(z, x) for z, w in first) for x in X[600:700]]
    assert merged.raw_scores(X[600:700]) == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert lp.merge([models[1], models[1].snapshot()]).raw_scores(X) == pytest.approx(
        models[1].raw_scores(X), rel=1e-12
    )


@pytest.mark.parametrize("learner", [lp.FOGD(random_state=0), lp.OMCSL(random_state=0), lp.NOGD(budget=30, rank=20)])
def test_the_weight_of_a_part_is_that_of_larger_steps(learner):
    n = len(SIZES)
    larger = models_of(clone(learner).set_params(learning_rate=n * learner.learning_rate))
    parts, start = [], 0
    for size in SIZES:
        rows, start = slice(start, start + size), start + size
        model = lp.empty_like(parts[0]) if parts else clone(learner)
        weights = np.full(size, model.part_weight(n))
        parts.append(model.partial_fit(X[rows], Y[rows], classes=[0, 1], sample_weight=weights))
    assert lp.merge(parts).raw_scores(X) == pytest.approx(lp.merge(larger).raw_scores(X), rel=1e-9)


def test_csr_rows_and_vectors_kept_by_their_non_zeros():
    wide = sp.random(300, 6_000, 0.002, format="csr", random_state=0)
    y = np.tile([0, 1, 0], 100)
    sizes = (120, 90, 90)
    models = models_of(lp.KernelPerceptron(gamma=0.5), wide, y, sizes)
    shares = np.array(sizes) / 300
    expected = shares @ np.array([model.raw_scores(wide) for model in models])
    assert lp.merge(models).raw_scores(wide) == pytest.approx(expected, abs=1e-12)
    bounded = models_of(lp.KOIL(budget=5, random_state=0), wide, y, sizes)
    assert lp.merge(bounded).n_support_ == 10


def test_a_later_merge_of_averaged_models_is_the_average_of_all_their_steps():
    models = models_of(lp.SPA(gamma=20.0, random_state=0))
    nested = lp.merge([lp.merge(models[:2]), models[2]])
    assert nested.raw_scores(X[600:]) == pytest.approx(lp.merge(models).raw_scores(X[600:]), rel=1e-9)
    columns = models_of(lp.OMCSL(average=True, regularization=0.01, random_state=0))
    steps = np.array(SIZES) / sum(SIZES)
    expected = sum(share * model.coef_ for share, model in zip(steps, columns, strict=True))
    assert lp.merge(columns).coef_ == pytest.approx(expected, rel=1e-9)


def test_moments_of_opauc_are_those_of_all_rows():
    stream = overlapping(700, 5)
    merged = lp.merge(models_of(lp.OPAUC(), stream.X, stream.y))
    for own, label in enumerate((1, 0)):
        rows = stream.X[:600][stream.y[:600] == label]
        assert merged._moments.means[own] == pytest.approx(rows.mean(axis=0), rel=1e-12)
        scatter = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
        assert merged._moments.scatter[own] == pytest.approx(scatter, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("regularization", [0.0, 0.05])
def test_weights_of_opauc_go_on_from_their_average_along_the_mean_gradient(regularization):
    """Against the flow of the mean gradient over all rows, each by its own loss, as one matrix exponential."""
    stream = overlapping(700, 5)
    make = lp.OPAUC(learning_rate=0.01, regularization=regularization)
    models, rows, labels = models_of(make, stream.X, stream.y), stream.X[:600], stream.y[:600]
    means, covariances = zip(
        *[(own.mean(axis=0), np.cov(own.T, bias=True)) for own in (rows[labels == 0], rows[labels == 1])], strict=True
    )
    A, b = np.zeros((5, 5)), np.zeros(5)
    for x, label in zip(rows, labels, strict=True):
        v = x - means[1 - label]
        A += (regularization * np.eye(5) + np.outer(v, v) + covariances[1 - label]) / 600
        b += (2 * label - 1) * v / 600
    shares = np.array(SIZES) / 600
    time = 0.01 * (600 - shares @ SIZES)
    flow = expm(time * np.block([[-A, b[:, None]], [np.zeros((1, 6))]]))
    start = sum(share * model.coef_[0] for share, model in zip(shares, models, strict=True))
    expected = flow[:5, :5] @ start + flow[:5, 5]
    assert lp.merge(models).coef_[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["standard", "minmax"])
def test_merged_scalers_know_the_scale_of_all_rows(kind):
    parts = [lp.OnlineScaler(kind).fit(X[:300]), lp.OnlineScaler(kind).fit(X[300:450]), lp.OnlineScaler(kind)]
    merged, whole = lp.merge(parts), lp.OnlineScaler(kind).fit(X[:450])
    assert merged.transform(X) == pytest.approx(whole.transform(X), rel=1e-12, abs=1e-13)
    sparse = sp.csr_array(np.where(X > 0.5, X, 0.0))
    parts = [lp.OnlineScaler(center=False).fit(sparse[own]) for own in (slice(400), slice(400, None))]
    whole = lp.OnlineScaler(center=False).fit(sparse).transform(sparse).toarray()
    assert lp.merge(parts).transform(sparse).toarray() == pytest.approx(whole, rel=1e-12)


def test_parts_of_a_pipeline_begin_with_its_scale_and_give_it_back():
    models = models_of(lp.StreamPipeline(lp.OnlineScaler(), lp.KernelPerceptron(gamma=2.0)))
    assert models[1].scaler_.n_seen_ == 400
    again = [lp.from_bytes(model.to_bytes()) for model in models]
    for merged in (lp.merge(models), lp.merge(again)):
        assert merged.scaler_.n_seen_ == 600
        middle, factor = merged.scaler_.affine()
        assert middle == pytest.approx(X[:600].mean(axis=0), rel=1e-9)
        assert factor == pytest.approx(1.0 / X[:600].std(axis=0), rel=1e-9)


def test_histories_and_gaps_of_tables_add_up():
    rng = np.random.default_rng(0)
    table = {
        "card": rng.integers(0, 9, 200).astype(str).tolist(),
        "when": np.arange(200.0).tolist(),
        "amount": [None if t % 7 == 0 else float(t) for t in range(200)],
    }
    y, cut = rng.integers(0, 2, 200), 120
    first, second = ({name: cells[own] for name, cells in table.items()} for own in (slice(cut), slice(cut, None)))
    schema = lp.encoding.infer_schema(table, keys=["card"], time="when")
    model = lp.TablePipeline(schema, learner=lp.OCS()).partial_fit(first, y[:cut])
    other = lp.empty_like(model).partial_fit(second, y[cut:])
    merged = lp.merge([model, other])
    assert merged.missing_as_[0] == pytest.approx(np.mean([t for t in range(200) if t % 7]))
    whole = lp.KeyedHistory(keys=["card"], time="when").partial_fit(table, y)
    probe = {name: cells[:20] for name, cells in table.items()} | {"when": [300.0] * 20}
    assert merged.history_.transform(probe)[:, :-4] == pytest.approx(whole.transform(probe)[:, :-4], rel=1e-9)


def test_rankers_with_other_scales_are_brought_to_one_by_the_rows_that_they_keep():
    grown = np.concatenate([X[:300], 3.0 * X[300:]])
    models = [lp.FourierRanker(random_state=0).fit(rows, y) for rows, y in ((X, Y), (grown, Y), (2.0 * X, Y))]
    merged = lp.merge(models[:1] + models[2:])
    assert auroc(Y, merged.raw_scores(X)) > 0.9
    held = lp.empty_like(models[0]).partial_fit(X[:100], Y[:100])
    assert np.array_equal(lp.merge([models[1], held]).scale_, models[0].scale_)


def test_a_model_of_few_rows_is_learned_row_by_row():
    young = lp.FourierRanker(random_state=0).partial_fit(X[:50], Y[:50], classes=[0, 1])
    old = lp.empty_like(young).partial_fit(X[50:700], Y[50:700], classes=[0, 1])
    merged, whole = lp.merge([young, old]).finish(), old.snapshot().partial_fit(X[:50], Y[:50]).finish()
    assert merged.raw_scores(X) == pytest.approx(whole.raw_scores(X), rel=1e-8, abs=1e-10)
    few = [
        lp.RareEventClassifier(random_state=s).partial_fit(X[o], Y[o]) for s, o in ((0, slice(30)), (1, slice(30, 50)))
    ]
    assert lp.merge(few).n_seen_ == 50


def test_thresholds_and_probabilities_rest_on_the_scores_of_all():
    models = models_of(lp.OCS(threshold="f1"))
    merged = lp.merge(models)
    assert merged._memory.counts.tolist() == [int(Y[:600].sum()), int((1 - Y[:600]).sum())]
    kept = np.concatenate([model._memory.positive[: model._memory.counts[0]] for model in models])
    assert np.array_equal(np.sort(merged._memory.positive[: kept.size]), np.sort(kept))
    assert np.isfinite(merged.threshold_)
    rated = models_of(lp.OCS(threshold="rate:0.2"))
    flagged = lp.merge(rated).predict(X[:600]).mean()
    assert 0.15 < flagged < 0.25
