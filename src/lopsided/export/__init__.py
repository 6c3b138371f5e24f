"""Models for programs without Python.

>>> from lopsided import KOIL
>>> from lopsided.datasets import four_clusters
>>> from lopsided.export import largest_difference, to_onnx
>>> stream = four_clusters(random_state=0)
>>> model = KOIL(random_state=0).fit(stream.X, stream.y)
>>> content = to_onnx(model)  # bytes: what an .onnx file holds
>>> largest_difference(content, model, stream.X[:100]) < 1e-9
True
"""

from lopsided.export.onnx_files import largest_difference, rows_to_compare, to_onnx

__all__ = ["largest_difference", "rows_to_compare", "to_onnx"]
