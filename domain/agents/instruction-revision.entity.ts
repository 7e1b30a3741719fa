import { defineEntity, p } from "@mikro-orm/core";
import type { CredentialKind } from "../shared/caller.ts";

/** `openclaw`: somebody has edited the file in OpenClaw. Then the id is that of the server. */
export type RevisionCredentialKind = CredentialKind | "openclaw";

/**
 * A version of an agent's AGENTS.md. Of an agent of a managed server, the one with the highest number is the current one. The
 * current one of an agent in a gateway is stored when the service has written it, or replaces it.
 */
export const InstructionRevisionSchema = defineEntity({
  name: "InstructionRevision",
  tableName: "instruction_revisions",
  properties: {
    agentId: p.uuid().primary(),
    /** From 1 on, without gaps. */
    number: p.integer().primary(),
    content: p.text(),
    /** The SHA-256 of the content in UTF-8, in hex. */
    contentHash: p.string(),
    /** The revision whose content this one restored. */
    revertedTo: p.integer().nullable(),
    userId: p.uuid().nullable(),
    credentialKind: p.string().$type<RevisionCredentialKind>(),
    credentialId: p.string(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});

export class InstructionRevision extends InstructionRevisionSchema.class {}
InstructionRevisionSchema.setClass(InstructionRevision);
