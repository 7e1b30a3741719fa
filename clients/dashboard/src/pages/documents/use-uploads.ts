import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { formatError } from "../../api.ts";
import { redirectToSignIn } from "../../query-client.ts";
import { readFile } from "../../ui/read-file.ts";
import type { DroppedFile } from "../../ui/dropped-files.ts";
import type { Choice } from "./archived-files.ts";
import type { ChangedDocument, DocumentSet } from "./document-set.ts";

export type UploadState = "waiting" | "uploading" | ChangedDocument["status"] | "failed" | "skipped";

export interface Upload extends DroppedFile {
  id: number;
  /** For Company Knowledge only. */
  kind: string | undefined;
  state: UploadState;
  /** Why the file is not stored. */
  reason: string | null;
}

/** Reading a file takes memory of the service, and other users upload too. */
const AT_ONCE = 2;

const isPending = ({ state }: Upload): boolean => state === "waiting" || state === "uploading";

export interface Uploads {
  list: readonly Upload[];
  /** Hidden files and folders that were left out. */
  hidden: number;
  isRunning: boolean;
  add: (choice: Choice, kind: string | undefined) => void;
  /** Uploads those that failed once more. */
  retry: () => void;
  clear: () => void;
}

/** Uploads files, two at a time. A file that fails does not stop the others; leaving the page does. */
export function useUploads(set: DocumentSet): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const [hidden, setHidden] = useState(0);
  const enqueue = useQueue(set, (id, change) =>
    setList((uploads) => uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload))),
  );
  const nextId = useRef(0);
  const add: Uploads["add"] = (choice, kind) => {
    const added = choice.files.map(({ path, file, obstacle }): Upload => {
      const state = obstacle === null ? "waiting" : "skipped";
      return { path, file, id: nextId.current++, kind, state, reason: obstacle };
    });
    // Those that failed can still be repeated.
    setList((uploads) => [...uploads.filter((upload) => isPending(upload) || upload.state === "failed"), ...added]);
    setHidden(choice.hidden);
    enqueue(added.filter(isPending));
  };
  const retry = (): void => {
    const again = list.filter(({ state }) => state === "failed");
    setList((uploads) =>
      uploads.map((upload) => (upload.state === "failed" ? { ...upload, state: "waiting", reason: null } : upload)),
    );
    enqueue(again);
  };
  const clear = (): void => {
    setList([]);
    setHidden(0);
  };
  return { list, hidden, isRunning: list.some(isPending), add, retry, clear };
}

type Report = (id: number, change: Pick<Upload, "state" | "reason">) => void;

/** Returns a function that stores files, and reports the state of each. */
function useQueue({ key, add }: DocumentSet, report: Report): (uploads: readonly Upload[]) => void {
  const client = useQueryClient();
  const queue = useRef<Upload[]>([]);
  const running = useRef(0);
  useEffect(
    () => () => {
      queue.current = [];
    },
    [],
  );
  const store = async ({ id, path, file, kind }: Upload): Promise<void> => {
    report(id, { state: "uploading", reason: null });
    try {
      const sent = { ...(await readFile(file)), name: path };
      const { status } = await add({ ...(kind !== undefined && { kind }), file: sent });
      report(id, { state: status, reason: null });
    } catch (error) {
      if (error instanceof Error) redirectToSignIn(error);
      report(id, { state: "failed", reason: explain(error) });
    }
  };
  const work = async (): Promise<void> => {
    running.current++;
    for (let upload = queue.current.shift(); upload !== undefined; upload = queue.current.shift()) await store(upload);
    running.current--;
    if (running.current === 0) await client.invalidateQueries({ queryKey: key });
  };
  return (uploads) => {
    queue.current.push(...uploads);
    const workers = Math.min(AT_ONCE - running.current, queue.current.length);
    for (let worker = 0; worker < workers; worker++) void work();
  };
}

/** The service names the field of the request first, which a user of the page does not know. */
function explain(error: unknown): string {
  if (error instanceof DOMException) return "The browser cannot read the file. It may have been moved or changed.";
  const message = formatError(error).replace(/^file(\.\w+)*: /, "");
  return message.charAt(0).toUpperCase() + message.slice(1);
}
