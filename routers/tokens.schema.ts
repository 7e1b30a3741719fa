import { z } from "zod";
import { TOKEN_KINDS } from "../domain/shared/caller.ts";
import { SCOPE_DESCRIPTIONS, SCOPES } from "../domain/shared/scopes.ts";
import type { TokenRequest } from "../domain/tokens/issue-token.ts";
import type { Rotation } from "../domain/tokens/rotate-token.ts";
import type { IssuedToken, TokenView } from "../domain/tokens/token-view.ts";
import { overlap, timestamp } from "./core/common.schema.ts";

const kind = z.enum(TOKEN_KINDS).meta({
  description:
    "`api_key`: REST, for the organization. `personal_access_token`: the tool gateway, for a user. `gateway_token`: the tool gateway, for one agent",
});
const scope = z.enum(SCOPES).meta({
  description: SCOPES.map((name) => `\`${name}\`: ${SCOPE_DESCRIPTIONS[name].summary}`).join(". "),
});

const view = {
  id: z.uuid(),
  kind,
  prefix: z.string().meta({ description: "The first characters of the token, for recognition" }),
  name: z.string(),
  scope,
  agent_id: z.uuid().nullable(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
};

export const tokenId = z.strictObject({ id: z.uuid() });

export const issueTokenRequest = z
  .strictObject({
    kind,
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .meta({ description: "A name for recognition, such as the purpose of the token" }),
    scope: scope.default("everything"),
    expires_at: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: "Expiry. A token without an expiry is valid until it is revoked" }),
    agent_id: z
      .uuid()
      .optional()
      .meta({ description: "The agent of a `gateway_token`; required for it, not allowed for other kinds" }),
  })
  .meta({ id: "IssueTokenRequest" }) satisfies z.ZodType<TokenRequest>;

export const issuedToken = z
  .object({ ...view, token: z.string().meta({ description: "The token. No other response contains it" }) })
  .meta({ id: "IssuedToken" }) satisfies z.ZodType<IssuedToken>;

export const listTokensResponse = z
  .object({ tokens: z.array(z.object(view).meta({ id: "Token" }) satisfies z.ZodType<TokenView>) })
  .meta({ id: "ListTokensResponse" });

export const rotateTokenRequest = z.strictObject({
  id: z.uuid(),
  overlap,
}) satisfies z.ZodType<Rotation>;

export const revokeTokenResponse = z.object({ status: z.literal("revoked") }).meta({ id: "RevokeTokenResponse" });
