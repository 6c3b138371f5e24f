"""The service: events are scored now, labels come later, and what was acknowledged is never lost.

A served model is a fold over an ordered log. Whatever happens to it (events with the scores that they were answered,
labels, expiries, changes of the decision rule, promotions) is an entry; the model at entry n is what the entries up
to n make of it, and a snapshot is only a shortcut to that. See docs/serve.md.

| file | what it answers |
|---|---|
| `messages.py` | what requests and answers look like |
| `configuration.py` | what a model is told when it is made, and the learner that follows from it |
| `entries.py` | what the log holds |
| `storage/` | where it is kept: the disk, SQLite, files of event ids |
| `opening.py` | how a log is begun, and how the state after its last entry is found again |
| `sequencing.py` | the order of things: answers events, has labels judged, writes entries |
| `deciding.py` | which events are alerts, by a budget or a share, as part of the fold |
| `judging.py` | what becomes of labels, by the rules of `lopsided.late` |
| `folding.py` | from entries to models and measures |
| `learning.py` | how a learner learns events of the log: by the engine for late labels, with the log as its store |
| `running.py` | the threads around it: commit in groups, learn, publish copies, save |
| `aging.py` | which events are given up, and which are forgotten |
| `recent.py`, `watching.py`, `watched.py`, `drifting.py` | what can be seen of a model; nothing is learned from it |
| `following.py`, `ray_scoring.py` | scoring elsewhere, by what was saved: one model, and replicas on Ray Serve |
| `house.py` | all models of a data directory |
| `demo.py` | a stream of card payments to look at |
| `web/` | HTTP, the page, and who may do what |
"""
