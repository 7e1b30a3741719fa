import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { z } from "zod";
import { isRecord, parseJson } from "../../domain/shared/json.ts";
import { fromValidation } from "../../routers/core/invalid-input.ts";

/** What the SDK returns for parameters that do not match its schemas: the JSON of the errors of zod. */
const VALIDATION_ERROR = /^[^[]{0,200}(\[\s*\{[^]*\])$/;

/** Replaces validation errors of the SDK in the body of a response by a sentence that says what is valid. */
export function explainProtocolErrors(body: string): string {
  if (!body.includes('"error"')) return body;
  const parsed = parseJson(body);
  let isChanged = false;
  for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
    const error = isRecord(message) ? message["error"] : undefined;
    const issues = isRecord(error) ? readIssues(error["message"]) : null;
    if (!isRecord(error) || issues === null) continue;
    error["code"] = ProtocolErrorCode.InvalidParams;
    error["message"] = fromValidation({ issues }).message;
    isChanged = true;
  }
  return isChanged ? JSON.stringify(parsed) : body;
}

function readIssues(message: unknown): z.core.$ZodIssue[] | null {
  const json = typeof message === "string" ? VALIDATION_ERROR.exec(message)?.[1] : undefined;
  const issues = json === undefined ? undefined : parseJson(json);
  if (!Array.isArray(issues) || issues.length === 0) return null;
  const isIssue = (each: unknown) =>
    isRecord(each) && Array.isArray(each["path"]) && typeof each["message"] === "string" && "code" in each;
  return issues.every(isIssue) ? issues : null;
}
