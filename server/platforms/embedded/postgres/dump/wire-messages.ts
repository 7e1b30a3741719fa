/** A message of a client of PostgreSQL (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
interface Request {
  message: Uint8Array;
  /** Whether the server responds, and then is ready for the next one; and the first and last message of a connection. */
  kind: "startup" | "sync" | "async" | "end";
}

const SYNC_TYPES = "QS";
const LENGTH_BYTES = 4;

/** Splits bytes into complete messages. The first message of a connection has no type. */
export function splitRequests(bytes: Buffer, isStarted: boolean): { requests: Request[]; rest: Uint8Array } {
  const requests: Request[] = [];
  let at = 0;
  let typeBytes = isStarted ? 1 : 0;
  while (bytes.length >= at + typeBytes + LENGTH_BYTES) {
    const end = at + typeBytes + bytes.readUInt32BE(at + typeBytes);
    if (bytes.length < end) break;
    const message = bytes.subarray(at, end);
    requests.push({ message, kind: typeBytes === 0 ? "startup" : kindOf(String.fromCharCode(message[0] ?? 0)) });
    typeBytes = 1;
    at = end;
  }
  return { requests, rest: bytes.subarray(at) };
}

function kindOf(type: string): Request["kind"] {
  if (type === "X") return "end";
  return SYNC_TYPES.includes(type) ? "sync" : "async";
}

/** What a server sends to a client that it accepts without a password: the connection is authenticated already. */
export function greeting(parameters: readonly (readonly [string, string])[]): Uint8Array {
  const statuses = parameters.map(([name, value]) => response("S", Buffer.from(`${name}\0${value}\0`)));
  return Buffer.concat([response("R", Buffer.alloc(4)), ...statuses, response("K", Buffer.alloc(8)), READY]);
}

function response(type: string, body: Uint8Array): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`);
  head.writeUInt32BE(body.length + LENGTH_BYTES, 1);
  return Buffer.concat([head, body]);
}

const READY = response("Z", Buffer.from("I"));

/** Follows the messages of a server until it is ready for the next request. */
export function completeMessages() {
  let head = Buffer.alloc(0);
  let skipped = 0;
  let type = "";
  return {
    add(chunk: Uint8Array): void {
      for (let at = 0; at < chunk.length;) {
        if (skipped === 0) {
          const part = chunk.subarray(at, at + LENGTH_BYTES + 1 - head.length);
          head = Buffer.concat([head, part]);
          at += part.length;
          if (head.length <= LENGTH_BYTES) continue;
          type = String.fromCharCode(head[0] ?? 0);
          skipped = head.readUInt32BE(1) - LENGTH_BYTES;
          head = Buffer.alloc(0);
        }
        const body = Math.min(skipped, chunk.length - at);
        skipped -= body;
        at += body;
      }
    },
    isReady: (): boolean => type === "Z" && skipped === 0 && head.length === 0,
  };
}
