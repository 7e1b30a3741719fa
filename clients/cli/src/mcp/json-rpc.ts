/** The codes of errors that the bridge itself reports (JSON-RPC 2.0, section 5.1; the last two are those of the gateway). */
export const ERROR = { parse: -32_700, invalidRequest: -32_600, failed: -32_000, unauthenticated: -32_001 } as const;

export type RequestId = string | number;

/** An error that the client gets as the response to its request. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** One JSON-RPC message, not validated. The gateway validates it. */
export interface Message {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

/** Parses a message or a batch; `null` for a text that is neither. */
export function parseMessages(text: string): Message | Message[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return [value].flat().every((each) => typeof each === "object" && each !== null) ? (value as Message) : null;
  } catch {
    return null;
  }
}

/** The ids to which responses are due. A batch of revision 2025-03-26 can have several. */
export function listRequestIds(message: Message | Message[]): RequestId[] {
  return [message]
    .flat()
    .filter((each) => typeof each.method === "string")
    .flatMap(({ id }) => (isRequestId(id) ? [id] : []));
}

/** The ids that the responses in a message have. */
export function listResponseIds(message: Message | Message[]): RequestId[] {
  return [message]
    .flat()
    .filter((each) => isResponse(each))
    .flatMap(({ id }) => (isRequestId(id) ? [id] : []));
}

function isResponse(message: Message): boolean {
  return "result" in message || "error" in message;
}

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

/** The field `field` of an object; `undefined` for any other value. */
export function readField(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}

/** Formats an error for every id. Without an id, the error has the id `null`. */
export function formatErrors(ids: readonly RequestId[], isBatch: boolean, error: RpcError): string {
  const responses = (ids.length === 0 ? [null] : ids).map((id) => ({ jsonrpc: "2.0", id, error }));
  return JSON.stringify(isBatch ? responses : responses[0]);
}
