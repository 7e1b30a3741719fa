import type { ReactNode } from "react";
import { useTitle } from "./card-page.tsx";

interface PageHeaderProps {
  title: string;
  /** Beside the title, such as a status. */
  status?: ReactNode;
  /** Below the title, in one line. */
  details?: ReactNode;
  /** Buttons, the most important one last. */
  actions?: ReactNode;
}

/** The heading of a page with its actions, and the title of the browser window. */
export function PageHeader({ title, status, details, actions }: PageHeaderProps) {
  useTitle(title);
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
      <div className="min-w-0 space-y-1">
        <div className="flex flex-wrap items-center gap-2">
          <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
          {status}
        </div>
        {details !== undefined && (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">{details}</div>
        )}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

/** The heading of a page without actions. */
export function PageTitle({ children }: { children: string }) {
  return <PageHeader title={children} />;
}
