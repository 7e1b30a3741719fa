import { ServiceError } from "../../sdk/src/service-error.ts";

/** The exit codes of the command line. The list is closed. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notSignedIn: 4, interrupted: 130, terminated: 143 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error that the user can act on. The message has one line. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, EXIT.usage);
}

/** The user has interrupted the command. `message` says what continues without it, if anything does. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

export interface ExplainedError {
  message: string;
  exitCode: ExitCode;
}

/**
 * Returns one line for the user, with the next step, and the exit code.
 *
 * @param hasOwnToken - whether the token comes from SVC_TOKEN, not from `svc login`
 */
export function explainError(error: unknown, hasOwnToken: boolean): ExplainedError {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof Interrupted) return { message: error.message, exitCode: EXIT.interrupted };
  // The reason why there is no token, such as a sign-in that cannot be refreshed.
  if (error instanceof ServiceError && error.cause instanceof CliError) return explainError(error.cause, hasOwnToken);
  if (error instanceof ServiceError) return explainServiceError(error, hasOwnToken);
  return { message: explainOutputError(error as NodeJS.ErrnoException), exitCode: EXIT.failed };
}

/** Returns one line about output that cannot be written, or about any other unexpected error. */
export function explainOutputError({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "The disk is full. Free some space, then try again.";
  return `Unexpected error: ${message}. Run the command again with --debug.`;
}

/** The service names the header, which --org, SVC_ORG and `svc orgs use` set. */
const ORGANIZATION_HEADER = "X-Service-Org-Id:";
const NOT_A_MEMBER =
  "You are not a member of the selected organization, or the token is limited to another one. List yours with: svc orgs list";

function explainServiceError(error: ServiceError, hasOwnToken: boolean): ExplainedError {
  const { code, message, retryAfterSeconds, requestId } = error;
  const failed = (text: string): ExplainedError => ({ message: text, exitCode: EXIT.failed });
  if (message.startsWith(ORGANIZATION_HEADER)) return failed(NOT_A_MEMBER);
  switch (code) {
    case "unauthenticated":
      return {
        message: `${endSentence(message)} ${hasOwnToken ? "Set SVC_TOKEN to a valid API key." : "Run: svc login"}`,
        exitCode: EXIT.notSignedIn,
      };
    case "rate_limited":
      // Most limits say it themselves.
      return failed(
        retryAfterSeconds === null || message.includes("Try again in")
          ? message
          : `${endSentence(message)} Try again in ${retryAfterSeconds} s.`,
      );
    case "invalid":
      return { message, exitCode: EXIT.usage };
    case "internal":
      return failed(requestId === null ? message : `${message} (X-Request-Id: ${requestId})`);
    case "network":
    case "invalid_response":
      return failed(`${endSentence(message)} The URL comes from --service, SVC_URL or svc login.`);
    default:
      return failed(message);
  }
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
