import type { ReactNode } from "react";

/** A sentence that explains what is around it. */
export function HelpText({ children }: { children: ReactNode }) {
  return <p className="text-sm text-zinc-600 dark:text-zinc-400">{children}</p>;
}
