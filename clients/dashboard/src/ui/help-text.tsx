import type { ReactNode } from "react";

/** A sentence that explains what is around it. */
export function HelpText({ children }: { children: ReactNode }) {
  return <p className="text-sm text-muted">{children}</p>;
}
