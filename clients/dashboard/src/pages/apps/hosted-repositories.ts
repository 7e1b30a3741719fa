import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Api, formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { type GitConnection, gitConnectionsQuery } from "../settings/git-connections-query.ts";

/** A repository that a git connection lists. */
export interface ListedRepository {
  connectionId: string;
  host: string;
  repo: string;
  isPrivate: boolean;
  /** When it was last pushed to, as ISO 8601. */
  pushedAt: string | null;
}

/** How long the service may show what a git host has listed before. */
const STALE_MS = 60_000;
/** While a user types, the hosts are not asked for every letter. */
const TYPING_MS = 250;
/** A page may be empty, if the connection is for one owner and the token reads those of others. */
const MAX_PAGES = 5;
const MAX_BRANCH_PAGES = 10;

export interface Suggestions<Item> {
  items: readonly Item[];
  isLoading: boolean;
  /** Why a host lists nothing, a sentence for each. */
  problems: readonly string[];
}

/**
 * Finds the repositories of all git connections whose name contains a text.
 *
 * @param isWanted - whether they are shown
 */
export function useRepositories(text: string, isWanted: boolean): Suggestions<ListedRepository> {
  const { id: orgId, api } = useOrganization();
  const { data: connections = [] } = useQuery(gitConnectionsQuery(orgId));
  const typed = useTyped(text.trim());
  // Hosts search in names, without the owner.
  const query = typed.slice(typed.lastIndexOf("/") + 1).slice(0, 100);
  const isName = /^[\w.-]*\/?[\w.-]*$/.test(typed);
  const listable = connections.filter(({ kind }) => kind !== "git");
  const { data, isFetching } = useQuery({
    queryKey: ["git-repositories", orgId, query, ...listable.map(({ id }) => id)],
    enabled: isWanted && isName && listable.length > 0,
    staleTime: STALE_MS,
    // Until the hosts have answered, those that were found before stay, as far as they match.
    placeholderData: (previous) => previous,
    queryFn: () => Promise.allSettled(listable.map((connection) => listRepositories(api, connection, query))),
  });
  const results = isName && listable.length > 0 ? (data ?? []) : [];
  const items = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  return {
    items: items.filter(({ repo }) => repo.toLowerCase().includes(text.trim().toLowerCase())),
    isLoading: isFetching,
    problems: results.flatMap((result) => (result.status === "rejected" ? [formatError(result.reason)] : [])),
  };
}

async function listRepositories(api: Api, connection: GitConnection, query: string): Promise<ListedRepository[]> {
  const { id: connectionId, host } = connection;
  for (let page: number | null = 1; page !== null && page <= MAX_PAGES;) {
    const request = { id: connectionId, query, page };
    const { repositories, next_page } = await api.gitConnections.repositories.query(request);
    if (repositories.length > 0)
      return repositories.map(({ repo, is_private: isPrivate, pushed_at: pushedAt }) => ({
        connectionId,
        host,
        repo,
        isPrivate,
        pushedAt,
      }));
    page = next_page;
  }
  return [];
}

/** Lists the branches of a repository; none without one. */
export function useBranches(repository: ListedRepository | null, isWanted: boolean): Suggestions<string> {
  const { id: orgId, api } = useOrganization();
  const { data, error, isFetching } = useQuery({
    queryKey: ["git-branches", orgId, repository?.connectionId, repository?.repo],
    enabled: isWanted && repository !== null,
    staleTime: STALE_MS,
    queryFn: async () => {
      const names: string[] = [];
      if (repository === null) return names;
      const { connectionId: id, repo } = repository;
      for (let page: number | null = 1; page !== null && page <= MAX_BRANCH_PAGES;) {
        const { branches, next_page } = await api.gitConnections.branches.query({ id, repo, page });
        names.push(...branches.map(({ name }) => name));
        page = next_page;
      }
      return names;
    },
  });
  return { items: data ?? [], isLoading: isFetching, problems: error === null ? [] : [formatError(error)] };
}

/** The text, when it has not changed for a moment. */
function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
}
