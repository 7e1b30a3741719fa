import { useMutation } from "@tanstack/react-query";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import type { Memory } from "./memory-row.tsx";

/** Downloads all memories of an agent as a file with one JSON object per line. */
export function ExportMemories({ agentId }: { agentId: string }) {
  const { api } = useOrganization();
  const exporting = useMutation({
    mutationFn: () => readAll(api, agentId),
    onSuccess: (memories) => download(memories, `memories-${agentId}.jsonl`),
  });
  return (
    <>
      <Button busy={exporting.isPending} onClick={() => exporting.mutate()}>
        Export memories
      </Button>
      <ErrorNotice error={exporting.error} />
    </>
  );
}

async function readAll(api: Api, agentId: string): Promise<Memory[]> {
  const memories: Memory[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Api["memories"]["export"]["query"]>> = await api.memories.export.query({
      id: agentId,
      ...(cursor !== null && { cursor }),
    });
    memories.push(...page.memories);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return memories;
}

function download(memories: readonly Memory[], name: string): void {
  const lines = memories.map((memory) => `${JSON.stringify(memory)}\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
