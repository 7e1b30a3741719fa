import { SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";

/**
 * Methods that need no server of the SDK's: their answer depends on the context and the parameters alone. A plain request
 * for one is answered with a fraction of the work that a server of its own would be.
 */
export type PlainMethods<C> = Readonly<Record<string, PlainMethod<C>>>;

interface PlainMethod<C> {
  /** Whether the parameters are of the usual form. Any other is left to the SDK to judge. */
  accepts(params: Record<string, unknown>): boolean;
  /**
   * The result as JSON; `null` leaves the request to the SDK.
   *
   * @throws {ProtocolError} for a request that is answered with an error, before anything has been done
   */
  answer(context: C, params: Record<string, unknown>): Promise<string | null>;
  /** What a result has beside this in revision 2026-07-28, as JSON: members, each after a comma. */
  modernMembers: string;
}

/** The members that every result of revision 2026-07-28 has, and `more`. */
export function modernMembers(server: { name: string; version: string }, more: object = {}): string {
  const meta = { [SERVER_INFO_META_KEY]: server };
  return `,${JSON.stringify({ resultType: "complete", ...more, _meta: meta }).slice(1, -1)}`;
}
