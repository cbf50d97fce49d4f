"""Parts of a leaderboard: which domains and classes there are to ask for."""

from __future__ import annotations

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.access.caller import Caller
from vidscore_server.hosting.boards import Board
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.policy import Visibility
from vidscore_server.hosting.release import final_rows
from vidscore_server.hosting.scores import unpack_score
from vidscore_server.hosting.submissions import team_seen
from vidscore_server.store.contract import Reader

NAMES_LISTED = 20
"""Most names that an error lists."""


def refuse_unknown_part(
    reader: Reader, definition: Definition, board: Board, caller: Caller
) -> None:
    """Refuse a domain or class that the benchmark does not have, as far as the caller may know.

    Known is what the specification names, and what has scores in reports that the caller sees.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board that is asked for.
        caller: Who asks.

    Raises:
        InputError: If it is unknown, with the names of those that are known.
    """
    domains = {entry.name for entry in definition.specification.domains}
    classes = {name for entry in definition.specification.domains for name in entry.classes or ()}
    team, looked_at = team_seen(caller), False
    for score in reader.published_scores(board.benchmark, board.evaluator.name):
        submission = reader.submission(board.benchmark, score.submission)
        if submission is not None and team in {None, submission.team}:
            report, submitted = unpack_score(score)
            final = definition.policy.shown is Visibility.FINAL and not caller.is_organiser
            rows = final_rows(definition, report, submitted) if final else report.rows()
            looked_at = True
            domains.update(row.domain for row in rows if row.domain is not None)
            classes.update(row.class_ for row in rows if row.class_ is not None)
    asked = (("domain", board.domain, domains), ("label", board.class_, classes))
    faults = [
        Fault(repr(name)[:80], _listed(known), field=field)
        for field, name, known in asked
        if name is not None and name not in known and (known or looked_at)
    ]
    if faults:
        raise InputError(faults)


def _listed(names: set[str]) -> str:
    if not names:
        return "none, for single ones have no scores"
    shown = [name[:80] for name in sorted(names)[:NAMES_LISTED]]
    rest = len(names) - len(shown)
    return " or ".join(shown) + (f" or one of {rest} more" if rest else "")
