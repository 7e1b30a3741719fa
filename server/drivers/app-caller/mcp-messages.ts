import { isRecord, parseJson } from "../../../domain/shared/json.ts";

/** A response of JSON-RPC 2.0: it has either `result` or `error`. */
export interface RpcResponse {
  result?: unknown;
  error?: RpcError;
}

interface RpcError {
  code?: unknown;
  message?: unknown;
  data?: unknown;
}

/** What a message from a server means to a client that waits for the response to one request. */
export type ReceivedMessage =
  | { kind: "response"; response: RpcResponse }
  /** The server asks the client for something before it responds. */
  | { kind: "request"; id: string | number; method: string }
  /** A notification, such as progress, or a response to another request. */
  | { kind: "other" };

/**
 * Reads the messages in a text: one message, or a batch as revision 2025-03-26 permits it. Returns none for text that is not JSON.
 *
 * @param id - the id of the request that waits
 */
export function readMessages(text: string, id: number): ReceivedMessage[] {
  return [parseJson(text)].flat().flatMap((message) => (isRecord(message) ? [classify(message, id)] : []));
}

function classify(message: Record<string, unknown>, waiting: number): ReceivedMessage {
  const { id, method } = message;
  if (typeof method === "string") {
    const isRequest = typeof id === "string" || typeof id === "number";
    return isRequest ? { kind: "request", id, method } : { kind: "other" };
  }
  // An error without an id is about a request that the server could not read.
  const isOurs = id === waiting || (isRecord(message["error"]) && (id === null || id === undefined));
  return isOurs ? { kind: "response", response: message } : { kind: "other" };
}
