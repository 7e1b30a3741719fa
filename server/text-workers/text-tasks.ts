import type { DocumentTasks } from "../../domain/documents/index-document.ts";

/** All work that runs in worker threads. */
export type TextTasks = DocumentTasks;
