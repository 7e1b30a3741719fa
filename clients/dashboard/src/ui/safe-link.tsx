import type { ReactNode } from "react";

/** Schemes of links. Others, such as `javascript:`, are shown as text; a relative link would lead to a page of the dashboard. */
const ADDRESS = /^(?:https?:|mailto:)/i;

/** A link in a text that the project did not write. */
export function SafeLink({ href, children }: { href: string | null | undefined; children?: ReactNode }) {
  if (typeof href !== "string" || !ADDRESS.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="text-link underline">
      {children}
    </a>
  );
}
