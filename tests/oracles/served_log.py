"""The log of a served model once more, the plain way: walk the entries, learn each label when it comes, by itself."""

import numpy as np

from lopsided.serve import entries as log


def learned(entries, model, classes):
    """`model`, which has learned nothing, after all labels of a log without challengers, promotions and rollbacks."""
    events = {}
    for sequence, entry in entries:
        if isinstance(entry, log.Events):
            scores = np.frombuffer(entry.scores)
            for number in range(len(entry.ids)):
                events[log.place_of(sequence, number)] = entry.columns(number), scores[number]
        elif isinstance(entry, log.Labels):
            for place, sign, weight in zip(entry.places, entry.signs, entry.weights, strict=True):
                _learn(model, *events[place], sign, weight, classes)
        elif isinstance(entry, log.Expired) and entry.as_negative:
            for place in entry.places:
                _learn(model, *events[place], -1, 1.0, classes)
    return model


def _learn(model, columns, score, sign, weight, classes):
    label = classes[1 if sign > 0 else 0]
    weights = None if weight == 1.0 else [weight]
    model.learn_many([columns], [label], scores=[score], sample_weight=weights, classes=classes)
