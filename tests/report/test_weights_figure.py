"""The drawing of a Bayesian ranker's weights."""

import numpy as np
import pytest

from lopsided import B2RMK, OB2RMK
from lopsided.datasets import four_clusters
from lopsided.kernels import Gaussian, Linear
from lopsided.report.figures import weights_figure


@pytest.mark.parametrize("model", [B2RMK, lambda pool: OB2RMK(kernels=pool, n_iterations=3)])
def test_every_kernel_and_every_example_is_drawn(model, tmp_path):
    stream = four_clusters(15, 45, random_state=0)
    ranker = model([Gaussian(sigma=0.3), Gaussian(sigma=1.0), Linear()]).fit(stream.X, stream.y)
    figure = weights_figure(ranker)
    of_kernels, of_examples = figure.axes
    assert [bar.get_height() for bar in of_kernels.patches] == ranker.kernel_weights_.tolist()
    drawn = np.concatenate([lines.get_segments() for lines in of_examples.collections])
    assert np.array_equal(np.sort(drawn[:, 1, 1]), np.sort(ranker.support_weights_))
    assert (ranker.support_signs_ > 0).sum() == 15
    figure.savefig(tmp_path / "weights.png")
    assert (tmp_path / "weights.png").stat().st_size > 5_000
