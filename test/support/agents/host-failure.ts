import { AgentHostError } from "../../../domain/ports/agent-host.ts";

/** Returns the error of the host with which an operation fails. */
export async function failure(work: Promise<unknown>): Promise<AgentHostError> {
  const error: unknown = await work.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof AgentHostError) return error;
  throw error;
}
