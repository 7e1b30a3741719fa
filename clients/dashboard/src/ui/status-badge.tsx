import { isInProgress } from "../../../../domain/apps/app-status.ts";

const STYLES = {
  success: "bg-success-soft text-success",
  progress: "bg-progress-soft text-progress",
  danger: "bg-danger-soft text-danger",
  plain: "bg-sunken text-muted",
} as const;

/** The status of an app, a deployment or a source, such as `ready`. */
export function StatusBadge({ status }: { status: string }) {
  const isRunning = isInProgress(status) || status === "deleting" || status === "reading";
  const style = status === "failed" ? "danger" : status === "ready" ? "success" : isRunning ? "progress" : "plain";
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${STYLES[style]}`}
    >
      <span
        aria-hidden
        className={`size-1.5 rounded-full bg-current ${isRunning ? "motion-safe:animate-pulse" : ""}`}
      />
      {status}
    </span>
  );
}
