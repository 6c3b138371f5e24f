"""Files and feeds read once, in bounded memory: tables (CSV, NDJSON, Parquet, Arrow) and LIBSVM text.

A source of bytes is cut into blocks of whole records, a format makes columns of each, and every row that is not what it
must be is named with its line. Nothing here knows a learner.

>>> import tempfile, pathlib
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name, "tiny.csv")
>>> _ = path.write_text("age,income,class\\n31,2.5,0\\n47,n/a,1\\nold,1,0\\n")
>>> labels = Spellings(positive=1, negative=0)
>>> expected = [Expected("age", "number"), Expected("income", "number"), Expected("class", "label", labels)]
>>> with TableStream(Sources([str(path)])) as stream:
...     for chunk in stream.chunks(expected):
...         print(chunk.columns["age"].tolist(), chunk.columns["income"].tolist(), chunk.columns["class"].tolist())
...         print(chunk.bad[0].line, chunk.bad[0].field, chunk.bad[0].rule, chunk.bad[0].got)
[31.0, 47.0] [2.5, nan] [-1.0, 1.0]
4 column 'age' must be a finite number 'old'
>>> folder.cleanup()
"""

from lopsided.streams.cells import Expected
from lopsided.streams.chunks import Chunk
from lopsided.streams.errors import StreamError
from lopsided.streams.labelled import Batch, LabelledFile, open_stream
from lopsided.streams.labels import Spellings, find_labels
from lopsided.streams.sources import Sources
from lopsided.streams.sparse import SparseChunk, SparseStream
from lopsided.streams.tables import TableStream

__all__ = [
    "Batch",
    "Chunk",
    "Expected",
    "LabelledFile",
    "Sources",
    "SparseChunk",
    "SparseStream",
    "Spellings",
    "StreamError",
    "TableStream",
    "find_labels",
    "open_stream",
]
