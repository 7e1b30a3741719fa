import type { OAuthClient } from "@better-auth/oauth-provider";
import { isForbiddenCimdClientMetadataField as isOurs } from "@better-auth/oauth-provider/internal";
import { z } from "zod";
import { UnusableClient } from "./client-id-url.ts";

const AUTH_METHODS = ["none", "private_key_jwt"] as const;
/** What a client that has the person agree in a browser needs. Others that it names are for other servers. */
const GRANTS = ["authorization_code", "refresh_token"] as const;

const texts = z.array(z.string(), "must be a list of texts");
const rules = z.object({
  client_name: z
    .string("must be a text")
    .trim()
    // A name that turns the direction of what follows, or hides in it, could say something else than it seems to.
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u, "must be 1 to 100 visible characters"),
  redirect_uris: texts
    .min(1, "must have one at least")
    .max(20, "must have 20 at most")
    .refine((uris) => uris.every((uri) => uri.length <= 1024), "must have 1024 characters each at most")
    // The database could not keep some of them.
    .refine((uris) => !uris.some((uri) => /[\p{Cc}\p{Cs}]/u.test(uri)), "must have visible characters alone"),
  token_endpoint_auth_method: z
    .enum(AUTH_METHODS, "must be none or private_key_jwt: what is published is no secret")
    .default("none"),
  grant_types: texts
    .refine((grants) => grants.includes("authorization_code"), "must include authorization_code")
    .default([...GRANTS]),
  response_types: texts.refine((types) => types.includes("code"), "must include code").default(["code"]),
  application_type: z.enum(["web", "native"], "must be web or native").optional(),
  dpop_bound_access_tokens: z.boolean("must be true or false").optional(),
  jwks: z.unknown().optional(),
});

/** The metadata of a client as the identity provider takes it. */
export type ClientMetadata = OAuthClient & { client_name: string; redirect_uris: string[] };

/**
 * What a client's document says of it, as far as it matters here. Everything else in it is left alone, and no address in
 * it is ever asked.
 *
 * @param clientId - the URL that the document was read from
 * @throws {UnusableClient} naming the member at fault, and nothing that the document holds
 */
export function clientMetadataIn(members: Readonly<Record<string, unknown>>, clientId: string): ClientMetadata {
  if (members["client_id"] !== clientId) throw unusable("client_id: must be exactly the URL of the document");
  const forbidden = Object.keys(members).find(isOurs);
  if (forbidden !== undefined) throw unusable(`${forbidden}: cannot be published`);
  const { success, data, error } = rules.safeParse(members);
  if (!success) throw unusable(sayIssue(error));
  const { jwks, grant_types: named, ...rest } = data;
  const proven = data.token_endpoint_auth_method === "private_key_jwt";
  if (proven && jwks === undefined)
    throw unusable("jwks: private_key_jwt needs the public keys here; jwks_uri is not read");
  return {
    ...rest,
    ...(proven && { jwks: jwks as NonNullable<OAuthClient["jwks"]> }),
    client_id: clientId,
    grant_types: GRANTS.filter((grant) => named.includes(grant)),
    response_types: ["code"],
  };
}

function sayIssue({ issues: [issue] }: z.ZodError): string {
  return `${String(issue?.path[0] ?? "the document")}: ${issue?.message ?? "is not valid"}`;
}

function unusable(message: string): UnusableClient {
  return new UnusableClient(`The client's metadata document is not valid. ${message}.`);
}
