"""Files, topics and frames as portions of encoded, labelled rows, in one pass and bounded memory.

Portions come with labels as signs, which a learner takes as they are. Writers put rows with their scores where they
are wanted. Nothing here knows a learner, or a command line.

>>> import tempfile, pathlib
>>> import lopsided as lp
>>> folder = tempfile.TemporaryDirectory()
>>> rows = "".join(f"{n % 7},{'NO' if n % 3 else 'XX'},{'yes' if n % 9 == 0 else 'no'}\\n" for n in range(90))
>>> _ = pathlib.Path(folder.name, "day1.csv").write_text("amount,country,fraud\\n" + rows)
>>> _ = pathlib.Path(folder.name, "day2.csv").write_text("amount,country,fraud\\n" + rows)
>>> model = lp.KOIL(random_state=0)
>>> for rows in lp.open_feed(f"{folder.name}/*.csv", label="fraud"):
...     _ = model.partial_fit(rows.X, rows.y)
>>> model.positive_label_, model.n_seen_
('yes', 180)
>>> folder.cleanup()
"""

from lopsided.feeds.bad_rows import BadRows
from lopsided.feeds.feed import Feed, FeedWarning
from lopsided.feeds.label_files import LabelFile, LabelsToCome, read_labels
from lopsided.feeds.opening import open_feed
from lopsided.feeds.outputs import open_writer
from lopsided.feeds.portions import Portion

__all__ = [
    "BadRows",
    "Feed",
    "FeedWarning",
    "LabelFile",
    "LabelsToCome",
    "Portion",
    "open_feed",
    "open_writer",
    "read_labels",
]
