"""Group `verify`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.verify import FailedResult, IntegrityParams, MarkParams, PassedResult

_VERIFY_INTEGRITY: msgspec.json.Decoder[PassedResult | FailedResult] = msgspec.json.Decoder(PassedResult | FailedResult)

_VERIFY_MARK_EQUIVALENT: msgspec.json.Decoder[PassedResult | FailedResult] = msgspec.json.Decoder(
    PassedResult | FailedResult
)


class VerifyMethods(Caller):
    """Calls of group `verify`."""

    def verify_integrity(self, *, sandbox_id: str, target_file: str, test_file: str) -> PassedResult | FailedResult:
        """Check that results reach assertions, then run the tests against mutants of the target, all in the box."""
        return self._call(
            "smp/verify/integrity",
            IntegrityParams(sandbox_id=sandbox_id, target_file=target_file, test_file=test_file),
            _VERIFY_INTEGRITY,
        )

    def verify_mark_equivalent(self, *, verify_result_id: str, mutant: int, reason: str) -> PassedResult | FailedResult:
        """Declare a surviving mutant equivalent: it holds the verdict back no longer; audit and pull request tell of it."""
        return self._call(
            "smp/verify/mark_equivalent",
            MarkParams(verify_result_id=verify_result_id, mutant=mutant, reason=reason),
            _VERIFY_MARK_EQUIVALENT,
        )


class AsyncVerifyMethods(AsyncCaller):
    """Calls of group `verify`, awaited."""

    async def verify_integrity(
        self, *, sandbox_id: str, target_file: str, test_file: str
    ) -> PassedResult | FailedResult:
        """Check that results reach assertions, then run the tests against mutants of the target, all in the box."""
        return await self._call(
            "smp/verify/integrity",
            IntegrityParams(sandbox_id=sandbox_id, target_file=target_file, test_file=test_file),
            _VERIFY_INTEGRITY,
        )

    async def verify_mark_equivalent(
        self, *, verify_result_id: str, mutant: int, reason: str
    ) -> PassedResult | FailedResult:
        """Declare a surviving mutant equivalent: it holds the verdict back no longer; audit and pull request tell of it."""
        return await self._call(
            "smp/verify/mark_equivalent",
            MarkParams(verify_result_id=verify_result_id, mutant=mutant, reason=reason),
            _VERIFY_MARK_EQUIVALENT,
        )
