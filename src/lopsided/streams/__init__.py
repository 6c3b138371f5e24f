"""Labelled files read as a stream of batches: LIBSVM text and CSV tables, plain or gzip.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "tiny.csv")
>>> _ = path.write_text("age,income,class\\n31,2.5,0\\n47,1.5,1\\n")
>>> stream = open_stream(path)
>>> stream.feature_names, stream.label_column, stream.labels.tolist()
(['age', 'income'], 'class', [0, 1])
>>> for batch in stream:
...     print(batch.X.tolist(), batch.y.tolist())
[[31.0, 2.5], [47.0, 1.5]] [0, 1]
>>> folder.cleanup()
"""

from lopsided.streams.batches import Batch
from lopsided.streams.errors import StreamError
from lopsided.streams.files import FileStream, open_stream

__all__ = ["Batch", "FileStream", "StreamError", "open_stream"]
