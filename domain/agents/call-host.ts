import { AgentHostError, type AgentHostErrorCode, InstructionsConflict } from "../ports/agent-host.ts";
import { ServiceError } from "../shared/errors.ts";
import { invalidCursor } from "../shared/keyset-cursor.ts";
import { agentNotFound } from "./agent-view.ts";

const DEADLINE_MS = 25_000;
const LATER = "Try again later. service_list_agents shows the status of the server.";

/**
 * Performs an operation on a host, within a bounded time.
 *
 * @param work - throws `AgentHostError` and `ServiceError`, or the reason of its signal
 * @param notFound - the error for what the host does not have
 * @param deadlineMs - for all requests of the operation
 * @throws {ServiceError} for each error of the host: what is wrong, and what to do
 */
export async function callHost<T>(
  work: (signal: AbortSignal) => Promise<T>,
  notFound: () => ServiceError = agentNotFound,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason)
      throw new ServiceError("unavailable", `The gateway does not respond in time. ${LATER}`, { cause: error });
    throw error instanceof AgentHostError ? toServiceError(error, notFound) : error;
  }
}

/** The messages of a host contain no text from outside of the service. */
const ERRORS = {
  unreachable: ({ message }) => new ServiceError("unavailable", `${message} ${LATER}`),
  timed_out: ({ message }) => new ServiceError("unavailable", `${message} ${LATER}`),
  overloaded: ({ message }) => new ServiceError("unavailable", message),
  invalid_response: ({ message }) =>
    new ServiceError("unavailable", `${message} Nothing of its response was used. Check the gateway of the server.`),
  unauthorized: ({ message }) => new ServiceError("conflict", message),
  unsupported: ({ message }) => new ServiceError("conflict", message),
  conflict: ({ message }) => new ServiceError("conflict", message),
  invalid_cursor: () => invalidCursor(),
} as const satisfies Record<Exclude<AgentHostErrorCode, "not_found">, (error: AgentHostError) => ServiceError>;

function toServiceError(error: AgentHostError, notFound: () => ServiceError): ServiceError {
  if (error instanceof InstructionsConflict) return instructionsChanged(error.currentHash);
  return error.code === "not_found" ? notFound() : ERRORS[error.code](error);
}

function instructionsChanged(currentHash: string): ServiceError {
  return new ServiceError(
    "conflict",
    `expected_hash: the instructions have changed since. Their content_hash is ${currentHash}. Read them, apply the change to them, then try again.`,
  );
}
