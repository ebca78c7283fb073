/** Base of what this package raises about calls. */
export class ClientError extends Error {
  override name = "ClientError";
}

/** The server answered with an error object; `data` has its fields, such as `candidates` or `held_by_agent`. */
export class CallFailed extends ClientError {
  override name = "CallFailed";

  /** The codes are listed in docs/protocol.md. */
  constructor(
    readonly code: number,
    readonly reason: string,
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(`${reason} (${code})`);
  }
}

/** No answer arrived; whether the call took effect is not known unless it only reads. */
export class Unreachable extends ClientError {
  override name = "Unreachable";
}

/** What arrived is no answer of this protocol; the address may belong to something else. */
export class Misunderstood extends ClientError {
  override name = "Misunderstood";
}
