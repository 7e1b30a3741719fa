// Runs in a worker thread. Each task is an export, which the pool calls by its name.
import { indexDocument, planPassageRemoval } from "../../domain/documents/index-document.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { TextTaskInput, TextTaskName, TextTaskOutput, TextTasks } from "../../domain/ports/text-workers.ts";
import type { TaskOutcome } from "./text-worker-pool.ts";

const tasks: TextTasks = { indexDocument, planPassageRemoval };

/** Runs one task. An error of the caller is returned, because its class would be lost between the threads. */
export async function runTask<Name extends TextTaskName>({
  name,
  input,
}: {
  name: Name;
  input: TextTaskInput<Name>;
}): Promise<TaskOutcome> {
  try {
    return {
      value: await (tasks[name] as (given: typeof input) => TextTaskOutput<Name> | Promise<TextTaskOutput<Name>>)(
        input,
      ),
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
