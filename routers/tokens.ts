import { issueToken } from "../domain/tokens/issue-token.ts";
import { listTokens } from "../domain/tokens/list-tokens.ts";
import { revokeToken } from "../domain/tokens/revoke-token.ts";
import { rotateToken } from "../domain/tokens/rotate-token.ts";
import {
  issuedToken,
  issueTokenRequest,
  listTokensResponse,
  revokeTokenResponse,
  rotateTokenRequest,
  tokenId,
} from "./tokens.schema.ts";
import { procedure, router } from "./core/trpc.ts";

const tags = ["Tokens"];
const notFound = "Token not found";
const limitReached = "Token limit reached";

export const tokens = router({
  issue: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "POST",
        path: "/v1/tokens",
        tags,
        summary: "Issue a token",
        description:
          "Issues an API key, a personal access token or a gateway token. Only this response contains the token.",
        successStatus: 201,
        successDescription: "The issued token",
        errorResponses: { 400: "Invalid request", 409: limitReached },
      },
    })
    .input(issueTokenRequest)
    .output(issuedToken)
    .mutation(({ ctx, input }) => issueToken(ctx.service, ctx.caller, input)),

  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/tokens",
        tags,
        summary: "List tokens",
        description:
          "Lists the caller's personal access tokens. Owners, admins and API keys also get the API keys and gateway tokens of the organization. Newest first. Revoked tokens are not listed, and no response contains the secret of a token.",
        successDescription: "The tokens",
      },
    })
    .output(listTokensResponse)
    .query(({ ctx }) => listTokens(ctx.service, ctx.caller)),

  revoke: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "DELETE",
        path: "/v1/tokens/{id}",
        tags,
        summary: "Revoke a token",
        description: "Revokes a token immediately and permanently.",
        successDescription: "The token is revoked",
        errorResponses: { 404: notFound },
      },
    })
    .input(tokenId)
    .output(revokeTokenResponse)
    .mutation(({ ctx, input }) => revokeToken(ctx.service, ctx.caller, input.id)),

  rotate: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "POST",
        path: "/v1/tokens/{id}/rotate",
        tags,
        summary: "Rotate a token",
        description: "Issues a new token with the same permissions. The old token expires after the overlap.",
        successStatus: 201,
        successDescription: "The new token",
        errorResponses: { 400: "Invalid request", 404: notFound, 409: limitReached },
      },
    })
    .input(rotateTokenRequest)
    .output(issuedToken)
    .mutation(({ ctx, input }) => rotateToken(ctx.service, ctx.caller, input)),
});
