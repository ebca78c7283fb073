"""Tokens of agents: issued once, kept as hashes."""

from __future__ import annotations

import abc

from smp.domain.access import Grant
from smp.domain.ids import AgentId


class TokenStore(abc.ABC):
    @abc.abstractmethod
    def issue(self, agent_id: AgentId, *, may_write: bool, made_at: str) -> tuple[Grant, str]:
        """Make a token.

        Returns:
            What it allows, and the token: it is shown now and never again.
        """

    @abc.abstractmethod
    def grants(self) -> tuple[Grant, ...]:
        """All tokens that hold, in the order in which they were issued."""

    @abc.abstractmethod
    def revoke(self, grant_id: str) -> None:
        """End a token at once, in every process.

        Raises:
            NotFound: There is none of that id.
        """

    @abc.abstractmethod
    def find(self, token: str) -> Grant | None:
        """What a token allows; None for one that does not hold. Takes the same time for any wrong token."""
