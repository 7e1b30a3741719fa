import { isRecord } from "../../../shared/json.ts";
import { toJsonText } from "../stringify-json.ts";

/**
 * Returns the text of the content of a message: a text, a part of the Gemini API, or a list of them. Calls and results are left
 * out, because a message has them in `toolCalls`. Media are only named.
 */
export function contentText(content: unknown): string {
  const parts = Array.isArray(content) ? content : [content];
  return parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isRecord(part) || part["thought"] === true) return "";
  if (typeof part["text"] === "string") return part["text"];
  const media = part["inlineData"] ?? part["fileData"];
  if (!isRecord(media)) return "";
  const { mimeType } = media;
  return typeof mimeType === "string" ? `[media: ${mimeType.slice(0, 100)}]` : "[media]";
}

/** Returns the text of the result of a call: the output of each function response, or the response as JSON. */
export function resultText(result: unknown): string {
  const parts = Array.isArray(result) ? result : [result];
  return parts
    .map((part) =>
      isRecord(part) && isRecord(part["functionResponse"]) ? responseText(part["functionResponse"]) : partText(part),
    )
    .filter((text) => text !== "")
    .join("\n");
}

function responseText({ response }: Record<string, unknown>): string {
  if (!isRecord(response)) return response === undefined ? "" : toJsonText(response);
  const text = response["output"] ?? response["error"];
  return typeof text === "string" ? withoutMark(text) : toJsonText(response);
}

/** Gemini CLI marks for the model what comes from outside. */
function withoutMark(text: string): string {
  const marked = text.startsWith(START_OF_UNTRUSTED) && text.endsWith(END_OF_UNTRUSTED);
  return marked ? text.slice(START_OF_UNTRUSTED.length, -END_OF_UNTRUSTED.length) : text;
}

const START_OF_UNTRUSTED = "<untrusted_context>\n";
const END_OF_UNTRUSTED = "\n</untrusted_context>";

/** Whether a command has failed, which only the text of its result says. */
export function hasFailed(text: string): boolean {
  const code = /^Exit Code: (\d+)$/m.exec(text.slice(-MAX_FOOTER));
  return code !== null && code[1] !== "0";
}

const MAX_FOOTER = 300;
