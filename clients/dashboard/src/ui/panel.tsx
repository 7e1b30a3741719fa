import { type ReactNode, useId } from "react";
import { HelpText } from "./help-text.tsx";

interface PanelProps {
  title: string;
  intro?: ReactNode;
  /** For links to this section. */
  id?: string;
  children: ReactNode;
}

/** A section of a page with a heading. */
export function Panel({ title, intro, id: anchor, children }: PanelProps) {
  const id = useId();
  return (
    <section id={anchor} aria-labelledby={id} className="space-y-4 rounded-lg border border-line bg-surface p-4 sm:p-5">
      <div className="space-y-1">
        <h2 id={id} tabIndex={-1} className="text-base font-semibold wrap-anywhere">
          {title}
        </h2>
        {intro !== undefined && <HelpText>{intro}</HelpText>}
      </div>
      {children}
    </section>
  );
}
