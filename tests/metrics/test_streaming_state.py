"""What a streaming area has counted can be kept, and gone on with as if nothing had happened."""

import numpy as np
import pytest

from lopsided.metrics import AUPRC, AUROC


@pytest.mark.parametrize("make", [AUROC, AUPRC, lambda: AUROC(fade=0.99), lambda: AUROC(key="sigmoid")])
@pytest.mark.parametrize("cut", [0, 100, 1500])
def test_it_goes_on_bit_for_bit(make, cut):
    rng = np.random.default_rng(0)
    y, scores = rng.random(2000) < 0.1, rng.normal(size=2000)
    whole, first, second = make(), make(), make()
    whole.update_many(y, scores)
    first.update_many(y[:cut], scores[:cut])
    second.restore(first.state())
    second.update_many(y[cut:], scores[cut:])
    assert second.value == whole.value and second.error_bound == whole.error_bound


def test_another_kind_of_state_is_refused():
    metric = AUROC()
    metric.update_many([0, 1] * 500, np.arange(1000.0))
    with pytest.raises(ValueError, match="must be that of an equal one"):
        AUROC(key="sigmoid", n_bins=2).restore(metric.state())
