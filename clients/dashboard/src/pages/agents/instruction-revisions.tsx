import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Loading } from "../../ui/loading.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { VersionRow } from "../../ui/version-row.tsx";
import { instructionsKey, type Revision, useRevisions } from "./instructions-query.ts";

const VersionComparison = lazy(async () => ({
  default: (await import("../../ui/version-comparison.tsx")).VersionComparison,
}));

const COLUMNS = ["Revision", "Stored", "Size", "Content", "Actions"];

interface InstructionRevisionsProps {
  agentId: string;
  /** The number of the current revision; 0 if the current content is not stored as one. */
  current: number;
}

/** The earlier versions of the instructions. Each can be viewed, compared with any other, and restored. */
export function InstructionRevisions({ agentId, current }: InstructionRevisionsProps) {
  const { id: orgId, api } = useOrganization();
  const revisions = useRevisions(agentId);
  const [shown, setShown] = useState<number | null>(null);
  return (
    <QueryContent query={revisions}>
      {(list) =>
        list.length > 0 && (
          <>
            <Table caption="Revisions of the instructions" columns={COLUMNS}>
              {list.map((revision) => (
                <RevisionRow
                  key={revision.number}
                  agentId={agentId}
                  revision={revision}
                  current={current}
                  onView={() => setShown(revision.number)}
                />
              ))}
            </Table>
            {revisions.hasNextPage && (
              <Button busy={revisions.isFetchingNextPage} onClick={() => void revisions.fetchNextPage()}>
                Load older revisions
              </Button>
            )}
            {shown !== null && (
              <Suspense fallback={<Loading />}>
                <VersionComparison
                  key={shown}
                  noun="revision"
                  number={shown}
                  numbers={list.map(({ number }) => number)}
                  queryOf={(number) => ({
                    queryKey: ["instruction-revision", orgId, agentId, number],
                    queryFn: () => api.instructions.revision.query({ id: agentId, number }),
                  })}
                  onClose={() => setShown(null)}
                />
              </Suspense>
            )}
          </>
        )
      }
    </QueryContent>
  );
}

interface RevisionRowProps extends InstructionRevisionsProps {
  revision: Revision;
  onView: () => void;
}

function RevisionRow({ agentId, revision, current, onView }: RevisionRowProps) {
  const { number, created_at: createdAt, size_bytes: size, reverted_to: restored } = revision;
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const restore = useMutation({
    mutationFn: () => api.instructions.revert.mutate({ id: agentId, number }),
    onSuccess: () => client.invalidateQueries({ queryKey: instructionsKey(orgId, agentId) }),
  });
  const isCurrent = number === current;
  return (
    <VersionRow {...{ noun: "revision", number, restored, createdAt, isCurrent, restore, content: "content" }}>
      <Cell>{size.toLocaleString("en")} bytes</Cell>
      <Cell>
        <Button aria-label={`View revision ${number}`} onClick={onView}>
          View
        </Button>
      </Cell>
    </VersionRow>
  );
}
