import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useOrganization } from "../organization.ts";
import { PageTitle } from "./page-header.tsx";
import { QueryContent } from "./query-content.tsx";

interface Props<Data> {
  /** The name of what the page shows. */
  title: string;
  /** The page that lists everything of this kind, and the text of the link to it. */
  list: { to: string; label: string };
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** A page about one thing, with a link to the list of all. */
export function DetailPage<Data>({ title, list: { to, label }, query, children }: Props<Data>) {
  const { id: orgId } = useOrganization();
  return (
    <>
      <PageTitle>{title}</PageTitle>
      <p className="text-sm">
        <Link to={to} search={{ org: orgId }} className="underline">
          {label}
        </Link>
      </p>
      <QueryContent query={query}>{children}</QueryContent>
    </>
  );
}
