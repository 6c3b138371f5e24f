"""The same stream for lopsided and for scikit-learn: every row is scored first and learned afterwards.

Run it with `python examples/compare_with_sklearn.py`. It takes a few seconds.
"""

from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lopsided as lp
from lopsided.datasets import load
from lopsided.evaluate import progressive_scores_of
from lopsided.metrics import auroc, average_precision

# Real data that comes with scikit-learn: which of 1,797 handwritten digits is an 8? Pixels are 0 to 16.
stream = load("digits-8")
X, y = stream.X / 16, stream.y

learners = {
    "scikit-learn SGDClassifier": SGDClassifier(loss="log_loss", class_weight={0: 1, 1: 9}, random_state=0),
    "lopsided KOIL": lp.KOIL(C=10, gamma=0.1, random_state=0),
    "lopsided FourierRanker": lp.FourierRanker(random_state=0),
}

print(f"{stream.name}: {y.size:,} rows, {y.mean():.1%} positive; one pass, each row scored before it is learned")
print(f"{'learner':<28}{'AUROC':>7}{'average precision':>19}")
for name, learner in learners.items():
    scores = progressive_scores_of(learner, X, y)  # takes any classifier with partial_fit and decision_function
    print(f"{name:<28}{auroc(y, scores):>7.3f}{average_precision(y, scores):>19.3f}")

# The learners are scikit-learn classifiers: pipelines, searches and scorers take them.
search = GridSearchCV(
    make_pipeline(StandardScaler(), lp.KOIL(C=10, random_state=0)),
    {"koil__gamma": [0.001, 0.01, 0.1]},
    scoring="roc_auc",
    cv=3,
).fit(X, y)
print(f"GridSearchCV takes gamma={search.best_params_['koil__gamma']}, AUROC {search.best_score_:.3f} on held-out rows")
