import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** A part of a form that most users need not open. Its fields are submitted also while it is closed. */
export function Disclosure({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <details className="group rounded-lg border border-line bg-surface">
      <summary className="flex list-none items-center gap-2 rounded-lg px-4 py-3 hover:bg-hover sm:px-5">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90 motion-reduce:transition-none"
        />
        <span className="font-medium">{title}</span>
        {hint !== undefined && <span className="truncate text-muted">{hint}</span>}
      </summary>
      <div className="space-y-4 px-4 pt-1 pb-5 sm:px-5">{children}</div>
    </details>
  );
}
