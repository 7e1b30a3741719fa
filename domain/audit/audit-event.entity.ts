import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { CredentialKind } from "../shared/caller.ts";

/** `done`: the action succeeded. `refused`: the action was rejected and changed nothing. */
export type AuditOutcome = "done" | "refused";

/** `session`: the cookie of a signed-in user. */
export type AuditCredentialKind = CredentialKind | "session";

/** What the target of an event is. `oauth_client`: a client that a user has connected. */
export const TARGET_KINDS = [
  "agent",
  "app",
  "project",
  "server",
  "skill",
  "token",
  "oauth_client",
  "invitation",
  "organization",
  "user",
] as const;

export type TargetKind = (typeof TARGET_KINDS)[number];

/**
 * An index for the pages of one filter, which PostgreSQL reads backwards. The position of nulls, of which there are none,
 * keeps it from using the index on `created_at` for pages: that one contains the events of every organization.
 */
function pageIndex(name: string, columns: string[]) {
  const order = [{ name: "created_at", nulls: "FIRST" as const }, { name: "id" }];
  return {
    name: `audit_events_${name}_page_index`,
    columns: [...columns.map((column) => ({ name: column })), ...order],
  };
}

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
    /** The name of the token, which may be deleted later. */
    credentialName: p.string().nullable(),
    /** A procedure, such as `apps.delete`, or a path of the identity provider, such as `sign-in/email`. */
    action: p.string(),
    /** The id of the object of the action; for a skill its name. */
    target: p.string().nullable(),
    targetKind: p.string().$type<TargetKind>().nullable(),
    /** The name at the time of the action, for a target that may be deleted later; `null` for users and invitations. */
    targetName: p.string().nullable(),
    /** The name of the variable of the app, for an action that sets or deletes one. Its value is not recorded. */
    variableName: p.string().nullable(),
    outcome: p.string().$type<AuditOutcome>(),
    /** The client address. */
    address: p.string().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [
    pageIndex("org", ["org_id"]),
    pageIndex("org_user", ["org_id", "user_id"]),
    pageIndex("org_credential", ["org_id", "credential_id"]),
    pageIndex("org_action", ["org_id", "action"]),
    pageIndex("org_target", ["org_id", "target"]),
    { ...pageIndex("user", ["user_id"]), where: { orgId: null } },
    { ...pageIndex("user_target", ["user_id", "target"]), where: { orgId: null } },
    { properties: ["createdAt"] },
  ],
});

export class AuditEvent extends AuditEventSchema.class {}
AuditEventSchema.setClass(AuditEvent);
