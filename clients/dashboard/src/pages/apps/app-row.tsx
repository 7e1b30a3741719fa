import { UPLOADED } from "./app-source.ts";
import { Link } from "@tanstack/react-router";
import { type CSSProperties, memo } from "react";
import type { App } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

/** The classes of a list of these rows. */
export const LIST_CLASS = "relative overflow-hidden rounded-lg border border-line bg-surface";

/** In pixels. */
export const ROW_HEIGHT = 44;

interface Props {
  app: App;
  /** The place in the list, from 0. */
  index: number;
  /** The length of the list. */
  count: number;
  /** Where the row is, in a list whose other rows are not in the document. */
  style?: CSSProperties;
}

/** A row of the list of apps, which is a link to the app. */
export function AppRow({ app, index, count, style }: Props) {
  return (
    <li
      data-row={index}
      aria-setsize={count}
      aria-posinset={index + 1}
      className="relative flex h-11 items-center gap-3 border-b border-line px-3 last:border-b-0 hover:bg-hover focus-within:bg-selected"
      style={style}
    >
      <RowContent app={app} />
    </li>
  );
}

/** Is not rendered again while the list scrolls, because only the place of its row changes. */
const RowContent = memo(function RowContent({
  app: { id, name, url, status, status_message: message, framework, repo, updated_at: at },
}: {
  app: App;
}) {
  const { id: orgId } = useOrganization();
  return (
    <>
      <span className="flex w-24 shrink-0">
        <StatusBadge status={status} />
      </span>
      <Link
        to="/apps/$id"
        params={{ id }}
        search={{ org: orgId }}
        preload={false}
        data-app
        className="max-w-[16rem] min-w-0 shrink-0 truncate font-medium outline-none after:absolute after:inset-0 max-sm:max-w-none max-sm:flex-1 max-sm:shrink"
      >
        {name}
      </Link>
      <span className="min-w-0 flex-1 truncate text-muted max-sm:hidden" title={message ?? repo ?? UPLOADED}>
        {message ?? repo ?? UPLOADED}
      </span>
      <span className="w-28 shrink-0 truncate text-muted max-lg:hidden">{framework}</span>
      <span className="w-24 shrink-0 text-right text-muted max-md:hidden">
        <Timestamp at={at} />
      </span>
      <a
        href={url}
        target="_blank"
        rel="noreferrer"
        title={new URL(url).host}
        aria-label={`Open ${name} in a new tab`}
        className="relative z-10 shrink-0 rounded-md p-1.5 text-muted hover:bg-selected hover:text-ink"
      >
        <OpenIcon />
      </a>
    </>
  );
});

/** The icon ExternalLink of Lucide as one path: a list that scrolls fast creates thousands of it. */
function OpenIcon() {
  return (
    <svg
      aria-hidden
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      className="size-4"
    >
      <path d="M15 3h6v6M10 14 21 3M18 13v6a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h6" />
    </svg>
  );
}
