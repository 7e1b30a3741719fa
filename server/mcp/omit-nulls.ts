import { isRecord } from "../../domain/shared/json.ts";

/** The input of a tool. Its schema says what null and the empty text mean in it. */
const DATA = "arguments";
/** Optional parameters in which the empty text has no meaning. */
const NEVER_EMPTY = new Set(["_meta", "cursor", DATA]);

/**
 * Removes members that are null from a message or a batch of messages, and returns it, and optional parameters that are the
 * empty text. JSON libraries of Go, Java and C# write absent members like this, where the protocol allows only a value or no
 * member. The id stays: without it, a request would be a notification.
 */
export function omitNulls(body: unknown): unknown {
  for (const message of Array.isArray(body) ? body : [body])
    if (isRecord(message)) {
      for (const key of Object.keys(message)) if (message[key] === null && key !== "id") delete message[key];
      if (message["params"] === "") delete message["params"];
      omitEmptyParameters(message["params"]);
      omitNullsBelow(message["params"]);
    }
  return body;
}

function omitEmptyParameters(params: unknown): void {
  if (!isRecord(params)) return;
  for (const key of NEVER_EMPTY) if (params[key] === "") delete params[key];
}

function omitNullsBelow(value: unknown): void {
  if (!isRecord(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (member === null) delete value[key];
    else if (key !== DATA) omitNullsBelow(member);
  }
}
