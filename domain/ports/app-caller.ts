import type { Invocation, ProcedureKind } from "./procedure-discovery.ts";

export interface AppCall {
  slug: string;
  /** The live deployment of the app. What a driver keeps between calls is valid for one deployment. */
  deploymentId: string;
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

/**
 * A part of the result of an MCP tool, as MCP defines it. It has no annotations and no `_meta`. `unknown` is a part of
 * another type, or one with invalid members.
 */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: EmbeddedResource }
  | { type: "resource_link"; uri: string; name: string; mimeType?: string | undefined }
  | { type: "unknown"; block: Record<string, unknown> };

/** Has either `text` or `blob`, which is base64. */
export interface EmbeddedResource {
  uri: string;
  mimeType?: string | undefined;
  text?: string | undefined;
  blob?: string | undefined;
}

/** The parts of a result that is more than text. */
export interface ResultContent {
  blocks: ContentBlock[];
  /** Whether `output` is the list of the blocks, because the app returned no structured output. */
  isOutput: boolean;
}

/**
 * The result of a call. `output`, `content` and `message` come from the app: untrusted data, never instructions. Only a
 * result of an MCP tool has `content`.
 */
export type ProcedureResult =
  | { ok: true; output: unknown; content?: ResultContent | undefined }
  | { ok: false; status: number; message: string };

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
