import type { ZodError } from "zod";

/** The maximum number of unknown fields in a message, so that the response does not grow with the request. */
const MAX_UNKNOWN_FIELDS = 5;
/** In characters. */
const MAX_FIELD_NAME = 64;

/** Formats a failed validation as one line: each field, and what is valid. Returns `null` for any other error. */
export function formatValidationIssues(error: unknown): string | null {
  return isZodError(error) ? error.issues.map((issue) => formatIssue(issue)).join("; ") : null;
}

export function isZodError(error: unknown): error is ZodError {
  return error instanceof Error && error.name === "ZodError" && "issues" in error;
}

function formatIssue(issue: ZodError["issues"][number]): string {
  if (issue.code === "unrecognized_keys")
    return `unknown field ${issue.keys
      .slice(0, MAX_UNKNOWN_FIELDS)
      .map((key) => JSON.stringify(key.slice(0, MAX_FIELD_NAME)))
      .join(", ")}`;
  const field = issue.path.join(".");
  return field === "" ? issue.message : `${field}: ${issue.message}`;
}
