// Runs in a worker thread.
import { indexDocument, planPassageRemoval } from "../../domain/documents/index-document.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { TaskOutcome } from "./text-worker-pool.ts";
import type { TextTasks } from "./text-tasks.ts";

const tasks: TextTasks = { indexDocument, planPassageRemoval };

/** Runs one task. An error of the caller is returned, because its class would be lost between the threads. */
export async function runTask({ name, input }: { name: keyof TextTasks; input: unknown }): Promise<TaskOutcome> {
  try {
    return { value: await tasks[name](input as never) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
