import { z } from "zod";
import { TOKEN_KINDS } from "../domain/shared/caller.ts";
import { ROLES } from "../domain/shared/roles.ts";
import { SCOPES } from "../domain/shared/scopes.ts";
import type { Account } from "../domain/users/get-account.ts";

const organization = z.object({ id: z.uuid(), name: z.string(), role: z.enum(ROLES) });

export const account = z.object({
  user: z
    .object({ id: z.uuid(), name: z.string(), email: z.string() })
    .nullable()
    .meta({ description: "Null for a credential that belongs to no user, such as an API key" }),
  organization: organization.meta({ description: "The organization of this call" }),
  organizations: z.array(organization).meta({ description: "The organizations in which the credential is valid" }),
  credential: z.enum([...TOKEN_KINDS, "access_token", "operator"]),
  scope: z.enum(SCOPES).nullable().meta({ description: "What the credential permits" }),
}) satisfies z.ZodType<Account>;
