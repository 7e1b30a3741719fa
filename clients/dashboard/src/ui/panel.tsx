import { type ReactNode, useId } from "react";
import { HelpText } from "./help-text.tsx";

/** A section of a page with a heading. */
export function Panel({ title, intro, children }: { title: string; intro?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="space-y-4 rounded-lg border border-zinc-200 bg-white p-4 sm:p-6 dark:border-zinc-800 dark:bg-zinc-900"
    >
      <h2 id={id} tabIndex={-1} className="text-lg font-semibold wrap-anywhere">
        {title}
      </h2>
      {intro !== undefined && <HelpText>{intro}</HelpText>}
      {children}
    </section>
  );
}
