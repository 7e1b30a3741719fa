import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

const workspaceKey = (orgId: string, agentId: string) => ["workspace", orgId, agentId];

/** The files that programs of the agent have stored in `/workspace`. */
export function AgentWorkspace({ agentId: id }: { agentId: string }) {
  const { id: orgId, api } = useOrganization();
  const [path, setPath] = useState<string | null>(null);
  const workspace = useInfiniteQuery({
    queryKey: workspaceKey(orgId, id),
    queryFn: ({ pageParam }) => api.agentWorkspaces.list.query(pageParam === null ? { id } : { id, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap(({ files }) => files),
  });
  return (
    <Panel title="Workspace" intro="The files that programs of the agent keep in /workspace.">
      <QueryContent query={workspace}>
        {(files) =>
          files.length === 0 ? (
            <EmptyState>
              <p>No files yet. Programs of the agent store them.</p>
            </EmptyState>
          ) : (
            <>
              <FileTable agentId={id} files={files} onOpen={setPath} />
              <DeleteFile agentId={id} path={null} />
            </>
          )
        }
      </QueryContent>
      {workspace.hasNextPage && (
        <Button busy={workspace.isFetchingNextPage} onClick={() => void workspace.fetchNextPage()}>
          Load more files
        </Button>
      )}
      {path !== null && <FileContent agentId={id} path={path} />}
    </Panel>
  );
}

interface FileTableProps {
  agentId: string;
  files: readonly { path: string; size_bytes: number; modified_at: string }[];
  onOpen: (path: string) => void;
}

function FileTable({ agentId, files, onOpen }: FileTableProps) {
  return (
    <Table caption="Files" columns={["Path", "Size", "Changed", "Actions"]}>
      {files.map(({ path, size_bytes: bytes, modified_at: at }) => (
        <Row key={path}>
          <Cell>
            <button
              type="button"
              className="text-left font-mono text-link underline wrap-anywhere"
              onClick={() => onOpen(path)}
            >
              {path}
            </button>
          </Cell>
          <Cell>{formatBytes(bytes)}</Cell>
          <Cell>
            <Timestamp at={at} />
          </Cell>
          <Cell>
            <DeleteFile agentId={agentId} path={path} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

/** @param props.path - a file; `null` for all files */
function DeleteFile({ agentId: id, path }: { agentId: string; path: string | null }) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const clear = useMutation({
    mutationFn: () => api.agentWorkspaces.clear.mutate(path === null ? { id } : { id, path }),
    onSuccess: () => client.invalidateQueries({ queryKey: workspaceKey(orgId, id) }),
    onError: (error) => showToast("The files were not deleted.", formatError(error)),
  });
  return (
    <ConfirmButton
      label={path === null ? "Delete all files" : "Delete"}
      {...(path !== null && { accessibleLabel: `Delete ${path}` })}
      question={path === null ? "Delete all files of the workspace?" : `Delete ${path}?`}
      busy={clear.isPending}
      typed={path ?? "all files"}
      onConfirm={() => clear.mutate()}
    >
      This cannot be undone.
    </ConfirmButton>
  );
}

function FileContent({ agentId: id, path }: { agentId: string; path: string }) {
  const { id: orgId, api } = useOrganization();
  const file = useQuery({
    queryKey: [...workspaceKey(orgId, id), "file", path],
    queryFn: () => api.agentWorkspaces.read.query({ id, path }),
  });
  return (
    <QueryContent query={file}>
      {({ content, encoding, next_offset: rest }) =>
        encoding === "base64" ? (
          <HelpText>{path} is not text.</HelpText>
        ) : (
          <>
            <Preformatted label={path} text={content} />
            {rest !== null && <HelpText>The file is longer than this part.</HelpText>}
          </>
        )
      }
    </QueryContent>
  );
}
