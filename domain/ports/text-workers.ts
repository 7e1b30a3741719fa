/** The input of a task. */
export type TextTaskInput<Task> = Task extends (input: infer Input) => unknown ? Input : never;

/** What a task returns. */
export type TextTaskOutput<Task> = Task extends (input: never) => infer Output ? Awaited<Output> : never;

/**
 * Runs work on text from outside in worker threads, so that the thread that responds to requests never waits for it. Each
 * task has a budget of time and memory, and each organization a share of the threads. A task may be repeated.
 *
 * @typeParam Tasks - the functions by their names. Their inputs and outputs are copied between threads, so they are plain data.
 */
export interface TextWorkers<Tasks> {
  /**
   * @param orgId - whose share of the threads it takes; `null` for work that no organization requested
   * @param signal - ends the task
   * @throws {ServiceError} what the task throws; `invalid` when the task exceeds its budget; `unavailable` when too many tasks
   *   wait
   */
  run<Name extends keyof Tasks & string>(
    orgId: string | null,
    name: Name,
    input: TextTaskInput<Tasks[Name]>,
    signal?: AbortSignal,
  ): Promise<TextTaskOutput<Tasks[Name]>>;
}
