import type { TRPCError } from "@trpc/server";
import type { ZodError } from "zod";
import { agentNotFound, serverNotFound } from "../../domain/agents/agent-view.ts";
import { appNotFound } from "../../domain/apps/get-app.ts";
import { versionNotFound } from "../../domain/documents/write-document.ts";
import { documentNotFound } from "../../domain/documents/document-rules.ts";
import { projectNotFound } from "../../domain/documents/document-owner.ts";
import { deploymentNotFound } from "../../domain/deployments/list-deployments.ts";
import { memoryNotFound } from "../../domain/memory/memory-rules.ts";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { sessionNotFound } from "../../domain/sessions/session-view.ts";
import { tokenNotFound } from "../../domain/tokens/token-view.ts";
import { describeIssue } from "./describe-issue.ts";

export interface InputIssue {
  path: PropertyKey[];
  message: string;
}

/** The maximum number of issues in an error, so that the response does not grow with the request. */
const MAX_ISSUES = 20;

/** The input of a procedure is invalid. The message has the issues in one line. */
export class InvalidInput extends ServiceError {
  readonly issues: readonly InputIssue[];

  constructor(issues: readonly InputIssue[]) {
    const shown = issues.slice(0, MAX_ISSUES);
    const more = issues.length > shown.length ? `; and ${issues.length - shown.length} more` : "";
    super("invalid", shown.map(formatIssue).join("; ") + more);
    this.issues = shown;
  }
}

/**
 * Returns the error that the caller of a procedure can act on; `null` for an internal error.
 *
 * @param path - the path of the procedure in REST, with parameters in braces
 */
export function toServiceError({ code, cause }: TRPCError, path: string | undefined): ServiceError | null {
  const error = translateDatabaseOutage(cause);
  if (error instanceof ServiceError) return error;
  if (code !== "BAD_REQUEST") return null;
  if (error instanceof SyntaxError) return new ServiceError("invalid", "The input is not valid JSON.");
  return isZodError(error) ? fromValidation(error, path) : null;
}

/**
 * Returns the error for an input that does not match its schema. A malformed id gets the same response as an unknown id.
 *
 * @param path - as for `toServiceError`
 * @param names - the valid fields, of which the error names similar ones for an unknown field
 */
export function fromValidation(
  { issues }: Pick<ZodError, "issues">,
  path = "",
  names: readonly string[] = [],
): ServiceError {
  const fields = issues.map((issue) => String(issue.path[0]));
  if (fields.every((field) => path.includes(`{${field}}`))) return notFoundAt(path, fields);
  return new InvalidInput(issues.map((issue) => ({ path: issue.path, message: describeIssue(issue, names) })));
}

/** @param fields - the malformed parameters of the path, in their order */
function notFoundAt(path: string, [field]: readonly string[]): ServiceError {
  if (field === "memory_id") return memoryNotFound();
  if (field === "document_id") return documentNotFound();
  if (field === "agent_id") return agentNotFound();
  if (path.includes("/versions/{number}") && field === "number") return versionNotFound();
  if (path.startsWith("/v1/projects")) return projectNotFound();
  if (path.startsWith("/v1/knowledge")) return documentNotFound();
  if (path.startsWith("/v1/agents")) return agentNotFound();
  if (path.startsWith("/v1/servers")) return serverNotFound();
  if (path.startsWith("/v1/sessions")) return sessionNotFound();
  if (path.includes("{number}")) return deploymentNotFound();
  return path.startsWith("/v1/tokens") ? tokenNotFound() : appNotFound();
}

function isZodError(error: unknown): error is ZodError {
  return error instanceof Error && error.name === "ZodError" && "issues" in error;
}

function formatIssue({ path, message }: InputIssue): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}
