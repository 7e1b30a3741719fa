import { z } from "zod";
import type { AuditPage } from "../domain/audit/list-events.ts";

export const auditRequest = z.strictObject({
  cursor: z.string().max(200).optional().meta({ description: "The `next_cursor` of the previous page" }),
});

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
          credential_kind: z.string().nullable().meta({ description: "Credential type" }),
          credential_id: z.string().nullable(),
          action: z.string().meta({ examples: ["apps.delete", "sign-in/email"] }),
          target: z.string().nullable().meta({ description: "The id of the object of the action" }),
          outcome: z.enum(["done", "refused"]),
          address: z.string().nullable().meta({ description: "Client address" }),
          created_at: z.string().meta({ description: "RFC 3339 in UTC, with milliseconds" }),
        })
        .meta({ id: "AuditEvent" }),
    ),
    next_cursor: z.string().nullable().meta({ description: "Cursor of the next page; null on the last page" }),
  })
  .meta({ id: "AuditPage" }) satisfies z.ZodType<AuditPage>;
