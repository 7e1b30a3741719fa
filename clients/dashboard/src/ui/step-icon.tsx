import { Check, CircleDashed, X } from "lucide-react";

/** The state of a step: it runs, has failed, or is done. */
export function StepIcon({ isRunning, hasFailed }: { isRunning: boolean; hasFailed: boolean }) {
  if (isRunning)
    return (
      <>
        <CircleDashed aria-hidden className="size-4 text-progress motion-safe:animate-spin" />
        <span className="sr-only">Running:</span>
      </>
    );
  if (hasFailed)
    return (
      <>
        <X aria-hidden className="size-4 text-danger" />
        <span className="sr-only">Failed:</span>
      </>
    );
  return <Check aria-hidden className="size-4 text-success" />;
}
