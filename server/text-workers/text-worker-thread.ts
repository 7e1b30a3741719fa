// Runs in a worker thread.
import { threadId } from "node:worker_threads";
import { indexDocument, planPassageRemoval } from "../../domain/documents/index-document.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { parseLargeFrame } from "../drivers/agent-host/openclaw/gateway-frames.ts";
import type { TaskOutcome, TaskThread } from "./text-worker-pool.ts";
import type { TextTasks } from "./text-tasks.ts";

const tasks: TextTasks = { indexDocument, parseLargeFrame, planPassageRemoval };

interface Task {
  name: keyof TextTasks;
  input: unknown;
  thread: TaskThread;
}

/** Runs one task. An error of the caller is returned, because its class would be lost between the threads. */
export async function runTask({ name, input, thread }: Task): Promise<TaskOutcome> {
  const { user, system } = process.threadCpuUsage();
  thread[1] = (user + system) / 1000;
  thread[0] = threadId;
  try {
    return { value: await tasks[name](input as never) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
