"""What a page shows of an examination of a ranking."""

from __future__ import annotations

import json

from vidscore_server.web.site.organise.trust import trust_view


def test_negative_scores_have_a_minus_sign_and_names_their_hyphens() -> None:
    drawn = {
        "coverage": 0.95,
        "above": [[0.0]],
        "groups": [["-1-a"]],
        "intervals": [
            {
                "system": "-1-a",
                "measure": "mota",
                "domain": None,
                "label": None,
                "low": -0.5,
                "high": -0.125,
            }
        ],
    }
    ranking: dict[str, object] = {
        "evaluator": "clear",
        "parameters": {},
        "scores": {"mota": {"-1-a": -0.25}},
        "ranks": {"-1-a": 1},
        "bootstrap": drawn,
        "sweeps": [],
        "noise": None,
    }
    view = trust_view(json.dumps({"systems": ["-1-a"], "rankings": [ranking]}))
    assert view.tables[0].lines == [
        ("-1-a", "1", "\N{MINUS SIGN}0.2500", "\N{MINUS SIGN}0.5000 to \N{MINUS SIGN}0.1250", "a")
    ]
    [table] = view.whiskers
    assert table.scale == ("\N{MINUS SIGN}0.5", "\N{MINUS SIGN}0.125")
    [row] = table.rows
    assert (row.value, row.interval) == view.tables[0].lines[0][2:4]
