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
const errors = {
  401: "The token is missing or invalid",
  403: "The caller's role or scope does not reach so far",
  500: "The service failed",
};
const notFound = "No such token that the caller may manage";
const tooMany = "There are as many tokens in force as there may be";

export const tokens = router({
  issue: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "POST",
        path: "/v1/tokens",
        tags,
        summary: "Make a token",
        description: "Makes an API key, a personal access token or a gateway token. It is shown only in this answer.",
        successStatus: 201,
        successDescription: "The token",
        errorResponses: { 400: "The request is invalid", ...errors, 409: tooMany },
      },
    })
    .input(issueTokenRequest)
    .output(issuedToken)
    .mutation(({ ctx, input }) => issueToken(ctx.tokens, ctx.caller, input)),

  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/tokens",
        tags,
        summary: "List tokens",
        description:
          "The caller's own personal access tokens and, for owners, admins and API keys, the tokens of the organization. Newest first, without revoked ones, and never with the tokens themselves.",
        successDescription: "The tokens",
        errorResponses: errors,
      },
    })
    .output(listTokensResponse)
    .query(({ ctx }) => listTokens(ctx.tokens, ctx.caller)),

  revoke: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "DELETE",
        path: "/v1/tokens/{id}",
        tags,
        summary: "Revoke a token",
        description: "Ends a token at once, for good.",
        successDescription: "The token is good for nothing",
        errorResponses: { ...errors, 404: notFound },
      },
    })
    .input(tokenId)
    .output(revokeTokenResponse)
    .mutation(({ ctx, input }) => revokeToken(ctx.tokens, ctx.caller, input.id)),

  rotate: procedure
    .meta({
      access: { scope: "everything" },
      openapi: {
        method: "POST",
        path: "/v1/tokens/{id}/rotate",
        tags,
        summary: "Replace a token",
        description: "Makes a token that may do the same, and lets the old one run out after the overlap.",
        successStatus: 201,
        successDescription: "The new token",
        errorResponses: { 400: "The request is invalid", ...errors, 404: notFound, 409: tooMany },
      },
    })
    .input(rotateTokenRequest)
    .output(issuedToken)
    .mutation(({ ctx, input }) => rotateToken(ctx.tokens, ctx.caller, input)),
});
