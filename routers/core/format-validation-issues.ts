import type { ZodError } from "zod";

/** As many unknown fields as are named, so that an answer does not grow with what was sent. */
const NAMED_FIELDS = 5;

/** A failed validation in a line for the caller: each field, and what is valid. `null` for any other error. */
export function formatValidationIssues(error: unknown): string | null {
  return isZodError(error) ? error.issues.map((issue) => sayIssue(issue)).join("; ") : null;
}

export function isZodError(error: unknown): error is ZodError {
  return error instanceof Error && error.name === "ZodError" && "issues" in error;
}

function sayIssue(issue: ZodError["issues"][number]): string {
  if (issue.code === "unrecognized_keys")
    return `unknown field ${issue.keys
      .slice(0, NAMED_FIELDS)
      .map((key) => JSON.stringify(key.slice(0, 64)))
      .join(", ")}`;
  const where = issue.path.join(".");
  return where === "" ? issue.message : `${where}: ${issue.message}`;
}
