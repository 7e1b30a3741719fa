import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { CredentialKind } from "../shared/caller.ts";

/** `done`: it happened. `refused`: it was asked for and did not. */
export type AuditOutcome = "done" | "refused";

export const AuditEventSchema = defineEntity({
  name: "AuditEvent",
  tableName: "audit_events",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    /** `null` for what concerns no organization, such as a refused sign-in. */
    orgId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    credentialKind: p.string().$type<CredentialKind | "session">().nullable(),
    credentialId: p.string().nullable(),
    /** A dotted procedure such as `apps.delete`, or a path of the identity provider such as `sign-in/email`. */
    action: p.string(),
    /** The id of what it was done to. */
    target: p.string().nullable(),
    outcome: p.string().$type<AuditOutcome>(),
    /** The network address that the call came from. */
    address: p.string().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["orgId", "createdAt"] }, { properties: ["createdAt"] }],
});

export class AuditEvent extends AuditEventSchema.class {}
AuditEventSchema.setClass(AuditEvent);
