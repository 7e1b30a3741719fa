import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useOrganization } from "../../organization.ts";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { InstructionRevisions } from "./instruction-revisions.tsx";
import { instructionsKey } from "./instructions-query.ts";

/** The editor is larger than the rest of the page. */
const InstructionsEditor = lazy(async () => ({
  default: (await import("./instructions-editor.tsx")).InstructionsEditor,
}));

/** The AGENTS.md of an agent, with its earlier versions. */
export function InstructionsPanel({ agentId }: { agentId: string }) {
  const { id: orgId, api } = useOrganization();
  const instructions = useQuery({
    queryKey: [...instructionsKey(orgId, agentId), "current"],
    queryFn: () => api.instructions.get.query({ id: agentId }),
  });
  return (
    <Panel title="Instructions" intro="The AGENTS.md of the agent. Every version is kept: the newest 200.">
      <QueryContent query={instructions}>
        {(data) => (
          <Suspense fallback={<Loading />}>
            <InstructionsEditor current={data} />
          </Suspense>
        )}
      </QueryContent>
      <InstructionRevisions agentId={agentId} current={instructions.data?.revision ?? 0} />
    </Panel>
  );
}
