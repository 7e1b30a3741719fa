import type { OAuthClient } from "@better-auth/oauth-provider";
import { isForbiddenCimdClientMetadataField as isForbiddenField } from "@better-auth/oauth-provider/internal";
import { z } from "zod";
import { UnusableClient } from "./client-id-url.ts";
import { findPrivateUseProblem, readPrivateUseScheme } from "./private-use-redirects.ts";

const AUTH_METHODS = ["none", "private_key_jwt"] as const;
/** The grant types for a client whose user consents in a browser. Other grant types in a document are ignored. */
const GRANT_TYPES = ["authorization_code", "refresh_token"] as const;

/** better-auth's own message about a redirect URI quotes the URI. No text of a document may reach the response. */
export const REDIRECT_RULE =
  "must be https URLs, http URLs of localhost, 127.0.0.1 or [::1], or URLs of a program's own scheme such as com.example.app:/callback";

const strings = z.array(z.string(), "must be a list of strings");
const rules = z.object({
  client_name: z
    .string("must be a string")
    .trim()
    // Bidirectional and invisible characters can make a name look like another one on the consent page.
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u, "must be 1 to 100 visible characters"),
  redirect_uris: strings
    .min(1, "must have at least 1 entry")
    .max(20, "must have at most 20 entries")
    .refine((uris) => uris.every((uri) => uri.length <= 1024), "must have at most 1024 characters each")
    .refine((uris) => uris.every((uri) => findPrivateUseProblem(uri) === null), REDIRECT_RULE)
    // The database cannot store NUL or a lone surrogate.
    .refine((uris) => !uris.some((uri) => /[\p{Cc}\p{Cs}]/u.test(uri)), "must have visible characters only"),
  token_endpoint_auth_method: z
    .enum(AUTH_METHODS, "must be none or private_key_jwt, because a public document cannot contain a secret")
    .default("none"),
  grant_types: strings
    .refine((grants) => grants.includes("authorization_code"), "must include authorization_code")
    .default([...GRANT_TYPES]),
  response_types: strings.refine((types) => types.includes("code"), "must include code").default(["code"]),
  application_type: z.enum(["web", "native"], "must be web or native").optional(),
  jwks: z.unknown().optional(),
});

/** The metadata of a client in the form that better-auth accepts. */
export type ClientMetadata = OAuthClient & { client_name: string; redirect_uris: string[] };

/**
 * Validates the metadata document of a client and returns the members that the service uses. Every other member is
 * ignored, and no URL in the document is fetched.
 *
 * @param clientId - the URL of the document
 * @throws {UnusableClient} with the name of the invalid member and without any text of the document
 */
export function parseClientMetadata(members: Readonly<Record<string, unknown>>, clientId: string): ClientMetadata {
  if (members["client_id"] !== clientId) throw invalidMetadata("client_id: must be exactly the URL of the document");
  const forbidden = Object.keys(members).find(isForbiddenField);
  if (forbidden !== undefined) throw invalidMetadata(`${forbidden}: must not be published`);
  const { success, data, error } = rules.safeParse(members);
  if (!success) throw invalidMetadata(formatFirstIssue(error));
  const { jwks, grant_types: grantTypes, ...rest } = data;
  if (usesPrivateScheme(data) && data.token_endpoint_auth_method !== "none")
    throw invalidMetadata("token_endpoint_auth_method: must be none for a redirect URI with a scheme of a program");
  const usesKeys = data.token_endpoint_auth_method === "private_key_jwt";
  if (usesKeys && jwks === undefined)
    throw invalidMetadata("jwks: required for private_key_jwt; jwks_uri is not supported");
  return {
    ...rest,
    ...(usesKeys && { jwks: jwks as NonNullable<OAuthClient["jwks"]> }),
    client_id: clientId,
    grant_types: GRANT_TYPES.filter((grantType) => grantTypes.includes(grantType)),
    response_types: ["code"],
  };
}

function usesPrivateScheme({ redirect_uris: uris }: { redirect_uris: string[] }): boolean {
  return uris.some((uri) => readPrivateUseScheme(uri) !== null);
}

function formatFirstIssue({ issues: [issue] }: z.ZodError): string {
  return `${String(issue?.path[0] ?? "the document")}: ${issue?.message ?? "is not valid"}`;
}

function invalidMetadata(problem: string): UnusableClient {
  return new UnusableClient(`Invalid client metadata document. ${problem}.`);
}
