"""Looking into models: what they are made of, and what a score is the sum of.

>>> from lopsided import KOIL, OnlineScaler, StreamPipeline
>>> from lopsided.datasets import four_clusters
>>> from lopsided.inspection import describe, explain
>>> stream = four_clusters(random_state=0)
>>> model = StreamPipeline(OnlineScaler(), KOIL(random_state=0)).fit(stream.X, stream.y)
>>> facts = describe(model)
>>> facts.learner, facts.rows, facts.n_support, facts.scale
('KOIL', 1000, 200, 'standard')
>>> explanation = explain(model, stream.X[0])
>>> total = sum(part.amount for part in explanation.parts) - explanation.threshold
>>> abs(total - explanation.score) < 1e-9
True
>>> explanation.parts[0].kind
'example'
"""

from lopsided.inspection.additive import Contributions, additive_contributions
from lopsided.inspection.anatomy import (
    KernelSum,
    LinearScore,
    ScoreForm,
    columns_of,
    feature_names,
    kernel_sums_of,
    linear_score_of,
    score_form_of,
)
from lopsided.inspection.description import ModelDescription, describe, kernel_weights_of, scale_of
from lopsided.inspection.examples import Example, cell_in_words, columns_in_words, example_of
from lopsided.inspection.explanation import Explanation, explain
from lopsided.inspection.terms import Part

__all__ = [
    "Contributions",
    "Example",
    "Explanation",
    "KernelSum",
    "LinearScore",
    "ModelDescription",
    "Part",
    "ScoreForm",
    "additive_contributions",
    "cell_in_words",
    "columns_in_words",
    "columns_of",
    "describe",
    "example_of",
    "explain",
    "feature_names",
    "kernel_sums_of",
    "kernel_weights_of",
    "linear_score_of",
    "scale_of",
    "score_form_of",
]
