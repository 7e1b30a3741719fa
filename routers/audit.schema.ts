import { z } from "zod";
import type { AuditPage } from "../domain/audit/list-events.ts";

export const auditRequest = z.strictObject({
  cursor: z.string().max(200).optional().meta({ description: "The `next_cursor` of the page before" }),
});

export const auditResponse = z
  .object({
    events: z.array(
      z
        .object({
          id: z.uuid(),
          user_id: z.uuid().nullable().meta({ description: "The person, if one did it" }),
          credential_kind: z.string().nullable().meta({ description: "What they proved themselves with" }),
          credential_id: z.string().nullable(),
          action: z.string().meta({ examples: ["apps.delete", "sign-in/email"] }),
          target: z.string().nullable().meta({ description: "The id of what it was done to" }),
          outcome: z.enum(["done", "refused"]),
          address: z.string().nullable().meta({ description: "The network address it came from" }),
          created_at: z.string().meta({ description: "RFC 3339 in UTC, with milliseconds" }),
        })
        .meta({ id: "AuditEvent" }),
    ),
    next_cursor: z.string().nullable().meta({ description: "Reads on where this page ends" }),
  })
  .meta({ id: "AuditPage" }) satisfies z.ZodType<AuditPage>;
