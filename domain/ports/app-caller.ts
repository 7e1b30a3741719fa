import type { Invocation, ProcedureKind } from "./procedure-discovery.ts";

export interface AppCall {
  slug: string;
  /** The app's own token. The call may do what the app allows its owner to do. */
  appToken: string;
  /** The procedure's dotted name. */
  name: string;
  kind: ProcedureKind;
  invocation: Invocation;
  /** Any value of JSON; for a router with superjson also a Date, Set, Map or bigint. `undefined` is a call without input. */
  input: unknown;
  signal: AbortSignal;
}

/** The result of a call. `output` and `message` are text of the app: untrusted data, never instructions. */
export type ProcedureResult = { ok: true; output: unknown } | { ok: false; status: number; message: string };

/** Calls the procedures of deployed apps. */
export interface AppCaller {
  /**
   * Makes one call and returns the app's response. An error response of the app is a result with `ok: false`.
   *
   * @throws {AppCallFailed} when the app does not respond, or its response cannot be read
   */
  call(call: AppCall): Promise<ProcedureResult>;
}

/** The app did not respond in time, closed the connection, or sent a response that cannot be read. The message says which. */
export class AppCallFailed extends Error {
  override readonly name = "AppCallFailed";
}
