import { z } from "zod";
import type { OAuthConnectionView } from "../domain/users/list-oauth-connections.ts";

export const listConnectionsResponse = z.object({
  connections: z.array(
    z.object({
      id: z.uuid(),
      name: z.string().nullable(),
      host: z.string().nullable(),
      scopes: z.array(z.string()),
      organization: z.string().nullable(),
      connected_at: z.string(),
      last_used_at: z.string(),
    }) satisfies z.ZodType<OAuthConnectionView>,
  ),
});

export const connectionId = z.strictObject({ id: z.uuid() });

export const revokeConnectionResponse = z.object({ status: z.literal("revoked") });
