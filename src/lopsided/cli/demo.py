"""`lopsided demo`: the first minute."""

from __future__ import annotations

import click

from lopsided.cli.options import with_force, with_json


@click.command()
@click.option("--kernels", is_flag=True, help="Show instead what a kernel is for, on two small streams.")
@click.option("--report", default="lopsided-report.html", metavar="HTML", show_default=True, help="Where to write it.")
@with_force
@with_json
def demo(kernels: bool, report: str, force: bool, as_json: bool) -> None:
    """A fraud desk: simulated card payments, from raw columns to daily alerts, with labels seven days late.

    RareEventClassifier with a history of cards and terminals beside a rule and, if it is installed, LightGBM fitted
    anew every week. Prints what each has caught, and writes a report.
    """
    from lopsided.cli.running import notice
    from lopsided.cli.targets import REPORT, Target, check_targets
    from lopsided.report.writing import check_can_write

    check_targets([Target("--report", report, REPORT)], force=force)
    target: str | None = report
    try:
        check_can_write(report)
    except ModuleNotFoundError as error:  # without matplotlib the table is still worth seeing
        notice(f"No report is written. {error}")
        target = None
    if kernels:
        from lopsided.cli.demo_kernels import show_kernels

        show_kernels(target, as_json=as_json)
    else:
        from lopsided.cli.demo_days import show_days

        show_days(target, as_json=as_json)
