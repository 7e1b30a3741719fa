import { z } from "zod";
import type { AuditPage, ListEventsRequest } from "../domain/audit/list-events.ts";
import { TARGET_KINDS } from "../domain/audit/audit-event.entity.ts";
import { time, timestamp } from "./core/common.schema.ts";

export const auditRequest = z.strictObject({
  user_id: z
    .uuid({ error: "must be the UUID of a user" })
    .optional()
    .meta({ description: "Only events of this user, also through a token of the user" }),
  credential_id: z
    .string()
    .regex(/^[\w-]{1,64}$/, { error: "must be the credential_id of an event, such as the UUID of a token" })
    .optional()
    .meta({ description: "Only events of this credential, such as a token" }),
  action: z
    .string()
    .regex(/^[\w./-]{1,100}$/, { error: "must be an action, such as apps.delete or sign-in/email" })
    .optional()
    .meta({ description: "Only events with exactly this action", examples: ["apps.delete"] }),
  target: z
    .string()
    .regex(/^[\w-]{1,64}$/, { error: "must be the target of an event, such as the UUID of an app" })
    .optional()
    .meta({ description: "Only events whose object is exactly this, such as an app" }),
  from: time.optional().meta({ description: "Only events at this time or later", examples: ["2026-11-20T09:30:00Z"] }),
  to: time.optional().meta({ description: "Only events before this time", examples: ["2026-11-21T09:30:00Z"] }),
  cursor: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "The `next_cursor` of the previous page, which had the same filters" }),
}) satisfies z.ZodType<ListEventsRequest>;

export const auditResponse = z
  .object({
    events: z.array(
      z
        .object({
          id: z.uuid(),
          user_id: z
            .uuid()
            .nullable()
            .meta({ description: "The user who signed in, or who owns or issued the token; null if no user is known" }),
          user_name: z
            .string()
            .nullable()
            .meta({ description: "The current name of the user; null if the user was deleted" }),
          user_email: z.string().nullable().meta({ description: "The email address of the user" }),
          credential_kind: z.string().nullable().meta({ description: "Credential type" }),
          credential_id: z.string().nullable(),
          credential_name: z
            .string()
            .nullable()
            .meta({ description: "The name of the token, also after it was deleted" }),
          action: z.string().meta({ examples: ["apps.delete", "sign-in/email"] }),
          target: z.string().nullable().meta({
            description:
              "The id of the object of the action, or the name of a skill; null for an invitation that can still be accepted",
          }),
          target_kind: z
            .string()
            .nullable()
            .meta({ description: `The type of the object of the action: ${TARGET_KINDS.join(", ")}` }),
          target_name: z.string().nullable().meta({
            description:
              "The slug of the app, or the name of the token, OAuth client or organization, at the time of the action, also after it was deleted. The current name of a user; null if the user was deleted",
          }),
          variable_name: z
            .string()
            .nullable()
            .meta({ description: "The name of the variable of the app that was set or deleted" }),
          target_email: z.string().nullable().meta({ description: "The email address of the user or invitation" }),
          outcome: z.enum(["done", "refused"]),
          address: z.string().nullable().meta({ description: "Client address" }),
          created_at: timestamp,
        })
        .meta({ id: "AuditEvent" }),
    ),
    next_cursor: z.string().nullable().meta({ description: "Cursor of the next page; null on the last page" }),
  })
  .meta({ id: "AuditPage" }) satisfies z.ZodType<AuditPage>;
