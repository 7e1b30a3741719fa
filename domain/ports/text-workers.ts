import type { indexDocument, planPassageRemoval } from "../documents/index-document.ts";

/**
 * The work on text from outside that runs in worker threads: what each task gets and returns. Both are copied between
 * threads, so they are plain data.
 */
export interface TextTasks {
  /** Splits a document into passages and encodes them for the search index. */
  indexDocument: typeof indexDocument;
  /** Finds what has to be read to remove the passages of a document from the search index. */
  planPassageRemoval: typeof planPassageRemoval;
}

export type TextTaskName = keyof TextTasks;

export type TextTaskInput<Name extends TextTaskName> = Parameters<TextTasks[Name]>[0];

export type TextTaskOutput<Name extends TextTaskName> = Awaited<ReturnType<TextTasks[Name]>>;

/**
 * Runs work on text from outside in worker threads, so that the thread that responds to requests never waits for it. Each
 * task has a budget of time and memory, and each organization a share of the threads. A task may be repeated.
 */
export interface TextWorkers {
  /**
   * @param orgId - whose share of the threads it takes; `null` for work that no organization requested
   * @param signal - ends the task
   * @throws {ServiceError} what the task throws; `invalid` when the task exceeds its budget; `unavailable` when too many tasks
   *   wait
   */
  run<Name extends TextTaskName>(
    orgId: string | null,
    name: Name,
    input: TextTaskInput<Name>,
    signal?: AbortSignal,
  ): Promise<TextTaskOutput<Name>>;
}
