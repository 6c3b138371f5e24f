"""The service: events are scored now, labels come later, and what was acknowledged is never lost.

A served model is a fold over an ordered log. Whatever happens to it (events with the scores that they were answered,
labels, expiries, changes of the decision rule, promotions) is an entry; the model at entry n is what the entries up
to n make of it, and a snapshot is only a shortcut to that. See docs/serve.md.

| file | what it answers |
|---|---|
| `messages.py` | what requests and answers look like |
| `configuration.py` | what a model is told when it is made, and the learner that follows from it |
| `entries.py` | what the log holds |
| `storage/` | where it is kept: the disk, SQLite, the index of event ids |
| `sequencing.py` | the order of things: answers events, judges labels, writes entries |
| `folding.py` | from entries to models and measures |
| `running.py` | the threads around it: commit in groups, learn, publish copies, save |
| `recent.py`, `watching.py`, `drifting.py` | what can be seen of a model at work; nothing is learned from it |
| `house.py` | all models of a data directory |
| `demo.py` | a stream of card payments to look at |
| `web/` | HTTP, the page, and who may do what |
"""
