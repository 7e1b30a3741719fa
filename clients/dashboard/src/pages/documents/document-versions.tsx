import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { VersionRow } from "../../ui/version-row.tsx";
import type { DocumentSet, DocumentVersionList } from "./document-set.ts";

const VersionComparison = lazy(async () => ({
  default: (await import("../../ui/version-comparison.tsx")).VersionComparison,
}));

type Version = DocumentVersionList["versions"][number];

const COLUMNS = ["Version", "Stored", "File", "Size", "Text", "Actions"];

/** The kept versions of a document, to read, compare or restore. */
export function DocumentVersions({ set, id, canRestore }: { set: DocumentSet; id: string; canRestore: boolean }) {
  const [compared, setCompared] = useState<number | null>(null);
  const versions = useQuery({
    queryKey: [...set.key, "versions", id],
    queryFn: () => set.versions(id),
  });
  return (
    <Panel title="Versions" intro="The newest 20 versions are kept.">
      <QueryContent query={versions}>
        {({ versions: list }) => (
          <>
            <Table caption="Versions of the document" columns={COLUMNS}>
              {list.map((version, index) => (
                <DocumentVersion
                  key={version.number}
                  set={set}
                  documentId={id}
                  version={version}
                  // The newest is first.
                  isCurrent={index === 0}
                  canRestore={canRestore}
                  onCompare={list.length > 1 ? () => setCompared(version.number) : null}
                />
              ))}
            </Table>
            {compared !== null && (
              <Suspense fallback={<Loading />}>
                <VersionComparison
                  key={compared}
                  noun="version"
                  number={compared}
                  numbers={list.map(({ number }) => number)}
                  queryOf={(number) => ({
                    queryKey: [...set.key, "version", id, number],
                    queryFn: () => set.get(id, number),
                  })}
                  onClose={() => setCompared(null)}
                />
              </Suspense>
            )}
          </>
        )}
      </QueryContent>
    </Panel>
  );
}

interface VersionProps {
  set: DocumentSet;
  documentId: string;
  version: Version;
  isCurrent: boolean;
  canRestore: boolean;
  /** `null` if there is no other version. */
  onCompare: (() => void) | null;
}

function DocumentVersion({ set, documentId: id, version, isCurrent, canRestore, onCompare }: VersionProps) {
  const { number, created_at: createdAt, file_name: fileName, size_bytes: size, restored } = version;
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const restore = useMutation({
    mutationFn: () => set.restore(id, number),
    onSuccess: () => client.invalidateQueries({ queryKey: set.key }),
  });
  return (
    <VersionRow
      {...{
        noun: "version",
        number,
        restored,
        createdAt,
        isCurrent,
        restore: canRestore ? restore : null,
        content: "text",
      }}
    >
      <Cell>
        <span className="text-muted">{fileName ?? "written here"}</span>
      </Cell>
      <Cell>{formatBytes(size)}</Cell>
      <Cell>
        <Link
          to={set.pathOf(id)}
          search={isCurrent ? { org: orgId } : { org: orgId, version: number }}
          aria-label={`Read version ${number}`}
          className="text-link underline"
        >
          Read
        </Link>
        {onCompare !== null && (
          <Button variant="quiet" aria-label={`Compare version ${number}`} onClick={onCompare}>
            Compare
          </Button>
        )}
      </Cell>
    </VersionRow>
  );
}
