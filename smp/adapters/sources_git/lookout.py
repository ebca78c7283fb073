"""Whether a working tree is as it was when it was last listed, found out in the cheapest way that cannot be wrong.

A process that asks once looks at every place (`unchanged`). One that asks again and again has the kernel tell it what
happens (`notices`) and reads that before every answer; it looks at every place only now and then, for the few kinds of
writes that the kernel does not tell of.
"""

from __future__ import annotations

import sys
import time
import weakref
from typing import TYPE_CHECKING

from smp.adapters.sources_git.unchanged import Look

if TYPE_CHECKING:
    from smp.adapters.sources_git.notices import Notices

NOTICES_AFTER = 4
"""Looks that found nothing, after which notices cost less than further looks: a command asks two or three times."""
LOOK_EVERY_S = 5.0
MOST_NEWS = 200
"""Changed places up to which each is listed by itself."""
NOTHING: frozenset[str] = frozenset()


class Lookout:
    """What happened to one tree since the look that it keeps; not for several threads at once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._look: Look | None = None
        self._looked = 0.0
        self._quiet = 0
        self._notices: Notices | None = None
        self._possible = sys.platform == "linux"

    @property
    def look(self) -> Look | None:
        """What is known of the tree."""
        return self._look

    def keep(self, look: Look, *, covered: bool = False) -> None:
        """Go on from a look; with notices, all of its folders must have been watched (`watch_folder`) before it.

        Args:
            covered: It is the look before with changes in it, so that nothing else is watched any more.
        """
        self._look, self._looked = look, time.monotonic()
        if self._notices is not None and not covered:
            self._with_notices(look)

    def forget(self) -> None:
        """The tree is being listed; until that has succeeded nothing is known of it."""
        self._look = None

    def watch_folder(self, folder: str) -> None:
        """Before a folder is read: hear of what happens in it. Without notices nothing."""
        if self._notices is not None:
            try:
                self._notices.add(folder)
            except OSError:  # no watches are left
                self._give_up()

    def changes(self) -> frozenset[str] | None:
        """Places that something has happened to since the look; empty: it still holds.

        Returns:
            Absolute paths; None: what has changed cannot be told, the tree must be listed anew.
        """
        look = self._look
        if look is None:
            return None
        if self._notices is None:
            if not look.holds():
                return None
            self._quiet += 1
            return NOTHING if self._quiet < NOTICES_AFTER or not self._possible else self._begin(look)
        news = self._notices.news(look)
        if self._notices.over:
            self._notices.close()
            self._notices, self._quiet = None, 0
        if news is None or len(news) > MOST_NEWS or not look.holds_beside():
            return None
        if not news and time.monotonic() - self._looked >= LOOK_EVERY_S:
            if not look.holds(noticed=True):
                return None
            self._looked = time.monotonic()
            look.settle(time.time_ns())
        return news

    def _begin(self, look: Look) -> frozenset[str] | None:
        """Hear of changes from now on; a look behind the watches tells whether any came before them."""
        from smp.adapters.sources_git.notices import Notices  # ctypes; a command has no use for it

        try:
            self._notices = Notices(self._root)
        except OSError:
            self._possible = False
            return NOTHING
        weakref.finalize(self, self._notices.close)
        self._with_notices(look)
        return NOTHING if look.holds() else None

    def _with_notices(self, look: Look) -> None:
        assert self._notices is not None
        try:
            self._notices.cover(look)
        except OSError:  # no watches are left
            self._give_up()

    def _give_up(self) -> None:
        assert self._notices is not None
        self._notices.close()
        self._notices, self._possible = None, False
