import { CircleAlert, CircleCheck, CircleDashed, CircleSlash, LoaderCircle } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/quantities.ts";
import type { Upload, Uploads, UploadState } from "./use-uploads.ts";

const LABELS: Readonly<Record<UploadState, string>> = {
  waiting: "Waiting",
  uploading: "Uploading",
  created: "Added",
  updated: "New version",
  unchanged: "Unchanged",
  failed: "Not stored",
  skipped: "Skipped",
};

/** The order of the summary. */
const OUTCOMES = [
  ["created", "added"],
  ["updated", "replaced"],
  ["unchanged", "unchanged"],
  ["failed", "not stored"],
  ["skipped", "skipped"],
] as const satisfies readonly (readonly [UploadState, string])[];

/** What became of each chosen file, with a summary that screen readers read. */
export function UploadList({ uploads: { list, hidden, isRunning, retry, clear } }: { uploads: Uploads }) {
  if (list.length === 0 && hidden === 0) return null;
  const done = list.filter(({ state }) => state !== "waiting" && state !== "uploading").length;
  const hasFailed = list.some(({ state }) => state === "failed");
  return (
    <div className="space-y-2">
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        {/* Not the number of those done: it would be read after each file. */}
        <p role="status" className="text-sm font-medium">
          {isRunning ? `Uploading ${formatCount(list.length, "file")}…` : summarize(list, hidden)}
        </p>
        {!isRunning && (
          <div className="flex gap-2">
            {hasFailed && <Button onClick={retry}>Try again</Button>}
            <Button variant="quiet" onClick={clear}>
              Clear list
            </Button>
          </div>
        )}
      </div>
      {isRunning && (
        <progress
          aria-label="Files uploaded"
          value={done}
          max={list.length}
          className="block h-1.5 w-full accent-accent"
        />
      )}
      {list.length > 0 && (
        <ul
          aria-label="Uploaded files"
          // A scrollable element must be focusable for keyboard users.
          tabIndex={0}
          className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-line"
        >
          {list.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </ul>
      )}
    </div>
  );
}

function summarize(list: readonly Upload[], hidden: number): string {
  const counts = OUTCOMES.map(([state, word]) => [list.filter((each) => each.state === state).length, word] as const);
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  if (hidden > 0) parts.push(`${formatCount(hidden, "hidden file or folder", "hidden files or folders")} left out`);
  return `${parts.join(", ")}.`;
}

function UploadRow({ upload: { path, state, reason } }: { upload: Upload }) {
  return (
    <li className="flex items-start gap-2 px-3 py-1.5 text-sm">
      <StateIcon state={state} />
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{path}</p>
        {reason !== null && <p className="text-xs wrap-anywhere text-muted">{reason}</p>}
      </div>
      <span className={`shrink-0 text-xs leading-5 ${state === "failed" ? "text-danger" : "text-muted"}`}>
        {LABELS[state]}
      </span>
    </li>
  );
}

const ICON_CLASS = "mt-0.5 size-4 shrink-0";

function StateIcon({ state }: { state: UploadState }) {
  if (state === "waiting") return <CircleDashed aria-hidden className={`${ICON_CLASS} text-muted`} />;
  if (state === "uploading")
    return <LoaderCircle aria-hidden className={`${ICON_CLASS} text-progress motion-safe:animate-spin`} />;
  if (state === "failed") return <CircleAlert aria-hidden className={`${ICON_CLASS} text-danger`} />;
  if (state === "skipped") return <CircleSlash aria-hidden className={`${ICON_CLASS} text-muted`} />;
  return <CircleCheck aria-hidden className={`${ICON_CLASS} text-success`} />;
}
