import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { TokenKind } from "../shared/caller.ts";
import type { Scope } from "../shared/scopes.ts";

export const MachineTokenSchema = defineEntity({
  name: "MachineToken",
  tableName: "machine_tokens",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    kind: p.string().$type<TokenKind>(),
    /** The SHA-256 of the token, in hex. The token itself is shown once and never stored. */
    tokenSha256: p.string().unique(),
    /** The first characters of the token, for recognition. */
    prefix: p.string(),
    name: p.string(),
    orgId: p.uuid(),
    /** The owner of a personal access token, or the user who issued an API key. */
    userId: p.uuid().nullable(),
    /** The agent of a gateway token. */
    agentId: p.uuid().nullable(),
    scope: p.string().$type<Scope>().default("everything"),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    /** When it stops being valid. Rotation shortens this to the end of the overlap. */
    expiresAt: p.datetime(3).nullable(),
    /** From its creation to the expiry that was chosen for it. Its successors get the same lifetime; `null` for no expiry. */
    lifetimeSeconds: p.bigint("number").nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
  indexes: [{ properties: ["orgId"] }, { properties: ["expiresAt"] }, { properties: ["revokedAt"] }],
});

export class MachineToken extends MachineTokenSchema.class {}
MachineTokenSchema.setClass(MachineToken);
