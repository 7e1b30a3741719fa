import type { ReactNode } from "react";

/** Takes the place of an empty list, and says what to do next. */
export function EmptyState({ children }: { children: ReactNode }) {
  return (
    <div className="space-y-3 rounded-md border border-dashed border-line-strong px-4 py-3 text-sm">{children}</div>
  );
}
