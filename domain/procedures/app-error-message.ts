import type { JsonSchema } from "../ports/procedure-discovery.ts";
import { isRecord, parseJson } from "../shared/json.ts";
import { truncateText } from "../shared/response-budget.ts";
import { describeArguments } from "./describe-arguments.ts";

/** With these statuses an app rejects the input of a call. */
const REJECTED_INPUT = [400, 422];
/** Longer messages are cut, in characters. */
const MAX_MESSAGE = 2000;
const MAX_ISSUES = 20;
/** The members in which frameworks put the list of issues, or the message. */
const ISSUE_MEMBERS = ["issues", "errors", "detail", "error"];
const MESSAGE_MEMBERS = ["message", "detail", "error", "title"];

/**
 * Formats the error message of an app like the messages of the service: each invalid field with its problem, then the names
 * of the arguments. Frameworks send the issues as JSON, which is hard to read. The result is still text of the app.
 */
export function formatAppErrorMessage(
  { status, message }: { status: number; message: string },
  inputSchema: JsonSchema,
): string {
  const value = readJsonPart(message);
  const issues = findIssues(value);
  const text =
    issues.length === 0
      ? (findMessage(value) ?? message)
      : `Invalid arguments: ${issues.slice(0, MAX_ISSUES).join("; ")}.`;
  const withArguments = `${text} ${describeArguments(inputSchema)}`;
  const isRejectedInput = issues.length > 0 || REJECTED_INPUT.includes(status);
  return isRejectedInput && withArguments.length <= MAX_MESSAGE ? withArguments : truncateText(text, MAX_MESSAGE);
}

/** The JSON that a message is, or with which it ends: the MCP SDK writes a sentence before the issues. */
function readJsonPart(message: string): unknown {
  const start = message.search(/[[{]/);
  return start === -1 ? undefined : parseJson(message.slice(start));
}

/** The issues of a failed validation in the formats of zod, JSON Schema validators and FastAPI; empty for anything else. */
function findIssues(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(formatIssue);
  if (!isRecord(value)) return [];
  for (const member of ISSUE_MEMBERS) {
    const issues = findIssues(value[member]);
    if (issues.length > 0) return issues;
  }
  return [];
}

function formatIssue(issue: unknown): string[] {
  if (!isRecord(issue)) return [];
  const message = issue["message"] ?? issue["msg"];
  if (typeof message !== "string") return [];
  const field = readField(issue["path"] ?? issue["loc"] ?? issue["instancePath"]);
  return [field === "" ? message : `${field}: ${message}`];
}

function readField(location: unknown): string {
  if (typeof location === "string") return location.replace(/^\//, "").replaceAll("/", ".");
  return Array.isArray(location) ? location.filter((part) => /^(string|number)$/.test(typeof part)).join(".") : "";
}

function findMessage(value: unknown): string | null {
  if (!isRecord(value)) return null;
  const found = MESSAGE_MEMBERS.map((member) => value[member]).find((text) => typeof text === "string" && text !== "");
  if (typeof found === "string") return found;
  return isRecord(value["error"]) ? findMessage(value["error"]) : null;
}
