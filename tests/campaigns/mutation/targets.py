"""Which modules are mutated, and which tests concern each of them."""

from __future__ import annotations

from collections.abc import Mapping

EVALUATORS = "tests/evaluators"
DOMAIN = "tests/server/domain"
API = "tests/server/api"

TARGETS: Mapping[str, tuple[str, ...]] = {
    "vidscore_evaluators.tally": (
        f"{EVALUATORS}/test_tally.py",
        f"{EVALUATORS}/test_exact.py",
        f"{EVALUATORS}/test_tally_bytes.py",
    ),
    "vidscore_server.domain.release": (
        f"{DOMAIN}/test_outcome_release.py",
        f"{DOMAIN}/test_final_scores.py",
        f"{DOMAIN}/test_hidden_truth.py",
        f"{DOMAIN}/test_public_boards.py",
        f"{DOMAIN}/test_public_names.py",
        f"{DOMAIN}/test_leaderboards.py",
        f"{DOMAIN}/test_board_parts.py",
        f"{DOMAIN}/test_private_sequences.py",
    ),
    "vidscore_server.domain.access": (
        f"{DOMAIN}/test_gate.py",
        f"{DOMAIN}/test_tokens.py",
        f"{DOMAIN}/test_roles.py",
        f"{DOMAIN}/test_running_tokens.py",
        f"{DOMAIN}/test_invitations.py",
        f"{DOMAIN}/test_shares.py",
        f"{API}/test_local_calls.py",
        f"{API}/test_access_service.py",
    ),
    "vidscore_server.domain.appends": (
        f"{DOMAIN}/test_appends.py",
        f"{DOMAIN}/test_append_queue.py",
        f"{DOMAIN}/test_drafts.py",
        f"{DOMAIN}/test_team_usage.py",
        f"{DOMAIN}/test_checking.py",
        f"{DOMAIN}/test_known_names.py",
    ),
    "vidscore_server.domain.states": (
        f"{DOMAIN}/test_states.py",
        f"{DOMAIN}/test_endings.py",
        f"{DOMAIN}/test_retrying.py",
        f"{DOMAIN}/test_scoring.py",
    ),
    "vidscore_server.api.guard": (
        f"{API}/test_local_calls.py",
        f"{API}/test_open_calls.py",
        f"{DOMAIN}/test_gate.py",
        f"{DOMAIN}/test_roles.py",
        f"{DOMAIN}/test_draining.py",
        f"{DOMAIN}/test_running_tokens.py",
        "tests/server/test_version.py",
        "tests/server/test_metrics.py",
        "tests/server/test_logs.py",
        "tests/server/test_status.py",
    ),
}
"""Modules, and the files of the tests that hold their rules."""
