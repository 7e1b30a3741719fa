import { defineEntity, p } from "@mikro-orm/core";

/** Which archive in the object store has the files of an agent, and which program may replace it. */
const AgentWorkspaceSchema = defineEntity({
  name: "AgentWorkspace",
  tableName: "agent_workspaces",
  properties: {
    orgId: p.uuid().primary(),
    agentId: p.uuid().primary(),
    /** The key of the archive; `null` without files. */
    archiveKey: p.string().nullable(),
    /** The size of the archive. */
    bytes: p.bigint("number"),
    /** The time of the newest lease in milliseconds, or one more than that of the earlier lease. */
    fencingToken: p.bigint("number"),
    /** When the lease of a program ends that is not renewed; `null` without a lease. */
    leasedUntil: p.datetime().nullable(),
  },
});

export class AgentWorkspace extends AgentWorkspaceSchema.class {}
AgentWorkspaceSchema.setClass(AgentWorkspace);
