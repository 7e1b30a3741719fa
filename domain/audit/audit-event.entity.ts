import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { CredentialKind } from "../shared/caller.ts";

/** `done`: the action succeeded. `refused`: the action was rejected and changed nothing. */
export type AuditOutcome = "done" | "refused";

/** `session`: the cookie of a signed-in user. */
export type AuditCredentialKind = CredentialKind | "session";

export const AuditEventSchema = defineEntity({
  name: "AuditEvent",
  tableName: "audit_events",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    /** `null` for an event without an organization, such as a failed sign-in. */
    orgId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    credentialKind: p.string().$type<AuditCredentialKind>().nullable(),
    credentialId: p.string().nullable(),
    /** A procedure, such as `apps.delete`, or a path of the identity provider, such as `sign-in/email`. */
    action: p.string(),
    /** The id of the object of the action. */
    target: p.string().nullable(),
    outcome: p.string().$type<AuditOutcome>(),
    /** The client address. */
    address: p.string().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["orgId", "createdAt"] }, { properties: ["createdAt"] }],
});

export class AuditEvent extends AuditEventSchema.class {}
AuditEventSchema.setClass(AuditEvent);
