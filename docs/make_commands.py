"""Write docs/commands.md from the commands themselves: `python docs/make_commands.py`."""

from __future__ import annotations

from pathlib import Path

import click

from lopsided.cli.main import COMMANDS, cli

PAGE = Path(__file__).parent / "commands.md"

INTRODUCTION = """# Commands

Written by `python docs/make_commands.py`; a test keeps it current. `lopsided COMMAND --help` says the same.

| exit code | meaning |
|---|---|
| 0 | done |
| 2 | bad input or options; the last line on standard error is one sentence that says what, where, what is allowed, what was found |
| 3 | `lopsided watch` has found drift |
| 130, 143 | interrupted by Ctrl-C, or by SIGTERM; what was learned is saved or shown |
| 1 | a bug, with a traceback |

Results go to standard output, everything else to standard error; `--json` makes the result one JSON object.

## Files

FILE is a table or LIBSVM text, and is read once, in memory that does not grow with it. The first bytes, the suffix or the
first lines tell which; `--format` overrules them.

| format | suffixes | notes |
|---|---|---|
| CSV, TSV | .csv .tsv .tab | with a header, or `--no-header` (columns are then `column_1`, `column_2` and so on); delimiter by the header; quotes as in RFC 4180, line ends inside of them allowed; a first column without a name, as pandas writes its index, is left out if it holds different whole numbers, else called `index` |
| NDJSON | .ndjson .jsonl | one object per line; a key that is not there is missing |
| Parquet, Arrow IPC | .parquet .pq .arrow .feather .ipc .arrows | rows are counted from 1 in messages |
| LIBSVM | .libsvm .svm .svmlight .t | indices from 0 if one occurs in the first 4 MB, else from 1; larger ones than those are ignored and reported, see `--features` |

Text is UTF-8, or UTF-16 with its mark; `--encoding latin-1` reads others. A first row that looks like data rather than names is
reported. gzip and zstd are recognised by content. `-` is standard input (LIBSVM there needs `--format libsvm`). A directory is all its
files by name; with `--follow` it is watched for more. `kafka://host:port/topic` reads a [topic](topics.md), one JSON object per
message (`pip install "lopsided[kafka]"`). Of several files the first one's columns hold: later files may order them otherwise; a new
column is reported once and ignored, a missing one is an error. A file that shrinks while it is followed, and a time column that
runs backwards, are reported when it happens first, and how often it happened at the end.

## Columns

What a column is is found in the first 1,000 rows, printed, saved with the model, and enforced afterwards. Missing values
(empty, NA, N/A, n/a, NaN, nan, NAN, -nan, null, NULL, None, ?) do not count.

| kind | if | becomes |
|---|---|---|
| flag | all values are true or false (in CSV only by `--kind COL=flag`) | 0 or 1, scaled |
| number | nine in ten values are numbers | itself, scaled; missing: the mean so far |
| date | nine in ten values are dates | the hour, the weekday and the day of the month as points on circles; one that cannot vary, such as the hour of dates without a time of day, is left out |
| text | more than three words on average | its words, hashed with signs into 256 columns, length 1 |
| key | it looks like an identifier: by its name (card_id, account, zip, phone, iban, customer, merchant ...), leading zeros, long numbers of one width or words that are nearly all different | hashed as a category if few values come often, else not learned from |
| category | otherwise | hashed with a sign into twice as many columns as values were seen, rounded up to a power of two, at most 64 |
| ignored | nothing there, no single values, a time in numbers that only grow | |

A number, flag or date that was missing in the first rows gets a column that says when it is missing. Values not seen before
are hashed like all others. `--kind`, `--ignore` and `--width` overrule these rules.

Numbers may be written `5,256.00`, `5.256,00`, `1 234,50`, with a currency or a percent sign (`$52.56`, `12 %`, which is 12), and
`(3.00)` for -3. Dates may be ISO dates, `31/03/2024`, `03/31/2024 2:15 PM`, `31.03.2024`, `2012/01/01`, and, in a column called
after a time, `20240331` or seconds or milliseconds since 1970. The form is found in the first rows, printed, saved with the
model, and holds for all rows. Where the first rows do not tell (`5,256`, `01/02/2024`), it is said which was taken;
`--kind amount=number:comma` and `--kind when=date:mdy` say it otherwise.

A moment itself is never learned from, because those of the rows to be scored lie beyond all that the model has seen. Who wants it
as a feature says `--kind when=age`: the days since the first one, scaled, beside the circles. A column that is mostly numbers, with
words between them, is taken as a category, and reported.

## Labels

The positive label is 1 where the labels are 0 and 1 or -1 and 1, true where they are true and false, and else the rarer one of
the first 1,000 rows; every command says which it took, and says so too if that one is common. `--positive VALUE` names another,
against all others.

An empty label (also NA, N/A, NaN, null) is one that is not known yet: the row is scored, and neither learned nor judged, and how
many there were is said at the end. `--blank negative` takes such rows for negative, `--blank error` for bad rows. A label that is
known to come later is for `--delay`.

## Bad rows

A row with a wrong number of cells, a cell that is not what its column must hold, or a label that is neither of the two, is
never learned from. `--on-error stop` (default) ends with its sentence; `skip` leaves it out and counts it; `quarantine` also
appends it to a file as JSON: source, line, field, expected, got, and the row itself. Nothing is written over a file that is
read, nor into a directory that is.

## Defaults from a file

`lopsided.toml` in the current directory, or `--config FILE`, gives defaults: keys are the long options. Those outside of a
table hold for all commands that have them, those in `[learn]` for one; a name that none has is refused. What may be repeated
takes a list or one value; `set` and `kind` also take a table.

```toml
label = "fraud"
ignore = ["id", "when"]
set = {C = 10, gamma = "auto"}
kind = {zip = "category"}

[learn]
output = "fraud.lopsided"
```

`lopsided completion bash` (zsh, fish) prints what a shell needs to complete commands, options, and the names of learners
and data sets.
"""


def option_line(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.metavar or _type(option)}"
    default = ""
    if option.show_default and option.default not in (None, ()):
        default = f" Default: {option.default}."
    return f"| {names}{value} | {option.help}{default} |".replace("|DURATION", "\\|DURATION").replace(
        "FILE|DIR", "FILE\\|DIR"
    )


def _type(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return " \\| ".join(map(str, option.type.choices))
    return "N"


def _paragraph(text: str) -> str:
    """Running words, or lines that click is told to leave as they are: examples."""
    if not text.lstrip().startswith("\b"):
        return " ".join(text.split())
    return "\n".join(["```", *(line.strip() for line in text.strip().splitlines()[1:]), "```"])


def command_section(name: str) -> str:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    arguments = [str(p.metavar or p.name.upper()) for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option)]
    usage = " ".join(["lopsided", name, *arguments, *(["[OPTIONS]"] if options else [])])
    words = "\n\n".join(map(_paragraph, (command.help or "").split("\n\n")))
    lines = [f"## {name}", "", "```", usage, "```", "", words]
    if options:
        lines += ["", "| option | meaning |", "|---|---|", *map(option_line, options)]
    return "\n".join(lines)


def page() -> str:
    return "\n".join([INTRODUCTION, *(command_section(name) + "\n" for name in sorted(COMMANDS))])


if __name__ == "__main__":
    PAGE.write_text(page())
