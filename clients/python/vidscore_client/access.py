"""The tokens and the audit record of a synchronous client."""

from __future__ import annotations

from vidscore_client._access_operations import create_token, list_tokens, revoke_token
from vidscore_client.hosting import NewToken, Role, Token
from vidscore_client.submissions import Run


class Tokens:
    """Tokens; `vidscore_client.Client.tokens`. For organisers."""

    def __init__(self, run: Run) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
        """
        self._run = run

    def create(
        self,
        role: Role | str,
        *,
        team: str = "",
        comment: str = "",
        lifetime_s: float | None = None,
    ) -> NewToken:
        """Create a token; its secret is told this once.

        Args:
            role: ``organiser``, ``participant`` or ``viewer``.
            team: Team that a participant submits for.
            comment: What it is for.
            lifetime_s: Seconds that it holds; None for ever.

        Raises:
            InputError: If there is no such role.
            VidscoreError: If the call fails.
        """
        return self._run(create_token(role, team, comment, lifetime_s))

    def list(self) -> list[Token]:
        """Every token, newest first.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_tokens())

    def revoke(self, token: str) -> Token:
        """End a token at once.

        Args:
            token: Its name, not its secret.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return self._run(revoke_token(token))
