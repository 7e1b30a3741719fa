import { useInfiniteQuery } from "@tanstack/react-query";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";

export type Instructions = Awaited<ReturnType<Api["instructions"]["get"]["query"]>>;
export type Revision = Awaited<ReturnType<Api["instructions"]["revisions"]["query"]>>["revisions"][number];

/** The start of the keys of all queries about the instructions of an agent. */
export const instructionsKey = (organizationId: string, agentId: string): string[] => [
  "instructions",
  organizationId,
  agentId,
];

/** The revisions of an agent's instructions without their content, the newest first. */
export function useRevisions(agentId: string) {
  const { id: orgId, api } = useOrganization();
  return useInfiniteQuery({
    queryKey: [...instructionsKey(orgId, agentId), "revisions"],
    queryFn: ({ pageParam }) =>
      api.instructions.revisions.query({ id: agentId, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.revisions),
  });
}
