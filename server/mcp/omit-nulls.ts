import { isRecord } from "../../domain/shared/json.ts";

/** The input of a tool, in which null is a value like any other. */
const DATA = "arguments";

/**
 * Removes members that are null from a message or a batch of messages, and returns it. JSON libraries of Go, Java and C# write
 * absent members as null, where the protocol allows only a value or no member. The id stays: without it, a request would be a
 * notification.
 */
export function omitNulls(body: unknown): unknown {
  for (const message of Array.isArray(body) ? body : [body])
    if (isRecord(message)) {
      for (const key of Object.keys(message)) if (message[key] === null && key !== "id") delete message[key];
      omitNullsBelow(message["params"]);
    }
  return body;
}

function omitNullsBelow(value: unknown): void {
  if (!isRecord(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (member === null) delete value[key];
    else if (key !== DATA) omitNullsBelow(member);
  }
}
