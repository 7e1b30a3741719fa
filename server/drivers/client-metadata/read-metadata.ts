import type { IncomingMessage } from "node:http";
import { UnreadableClientMetadata } from "../../ports/client-metadata.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { readBody } from "../../http/read-body.ts";

const MAX_BYTES = 5 * 1024;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/**
 * Reads the JSON object in the body of a response.
 *
 * @throws {UnreadableClientMetadata} when the response is anything else than an uncompressed JSON object within the limit
 */
export async function readMetadata(response: IncomingMessage): Promise<Record<string, unknown>> {
  checkHeaders(response);
  const body = await readBody(response, MAX_BYTES);
  if (body === null) throw tooLarge();
  const value = parseBody(body);
  if (!isRecord(value)) throw new UnreadableClientMetadata("it is not a JSON object");
  return value;
}

function checkHeaders({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode >= 300 && statusCode < 400)
    throw new UnreadableClientMetadata("its host redirects, and redirects are not followed");
  if (statusCode !== 200) throw new UnreadableClientMetadata(`its host responded with status ${statusCode}, not 200`);
  if (!JSON_TYPE.test(headers["content-type"] ?? ""))
    throw new UnreadableClientMetadata("its Content-Type is not application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    throw new UnreadableClientMetadata("it is compressed, although the request forbids compression");
  if (Number(headers["content-length"] ?? 0) > MAX_BYTES) throw tooLarge();
}

function tooLarge(): UnreadableClientMetadata {
  return new UnreadableClientMetadata(`it is larger than ${MAX_BYTES} bytes`);
}

function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body, which must not be passed on.
    throw new UnreadableClientMetadata("it is not JSON");
  }
}
