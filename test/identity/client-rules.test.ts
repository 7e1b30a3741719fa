import { expect, test } from "vitest";
import { checkClientUrl, isClientUrl, UnusableClient } from "../../server/identity/client-id-url.ts";
import { parseClientMetadata, REDIRECT_RULE } from "../../server/identity/client-metadata.ts";
import {
  checkClientRegistration,
  normalizeClientRegistration,
} from "../../server/identity/client-registration-rules.ts";

test.each([
  ["https://example.com/x", true],
  ["HTTP://example.com", true],
  ["AbCdEf", false],
  ["a https://example.com", false],
  ["cursor://x", false],
])("the client id %j is meant as a URL: %s", (id, expected) => {
  expect(isClientUrl(id)).toBe(expected);
});

const LONGEST = `https://client.example.com/${"x".repeat(512 - "https://client.example.com/".length)}`;

test.each([
  ["https://client.example.com/client.json", /^$/],
  ["https://client.example.com:8443/client.json", /^$/],
  ["https://my-apps.example.net/client.json", /^$/],
  ["https://my-service.example.org/client.json", /^$/],
  [LONGEST, /^$/],
  [`${LONGEST}x`, "at most 512 characters"],
  ["http://client.example.com/x", "must use https"],
  ["https://", "must use https"],
  ["https://ada@client.example.com/x", "user name or a password"],
  ["https://:secret@client.example.com/x", "user name or a password"],
  ["https://client.example.com/x#", "a fragment"],
  ["https://client.example.com/x?", "a query"],
  ["https://127.0.0.1/x", "a public host"],
  ["https://[::1]/x", "a public host"],
  ["https://[2001:db8::1]/x", "a public host"],
  ["https://localhost/x", "a public host"],
  ["https://example./x", "a public host"],
  ["https://example..com/x", "a public host"],
  ["https://client.example.com./x", "a public host"],
  ["https://client.example.com", "have a path"],
  ["https://client.example.com/", "have a path"],
  ["https://client.example.com/./x", "normalized"],
  ["https://service.example.org/x", "host of this service"],
  ["https://an-app.apps.example.net/x", "host of this service"],
])("the client id %j is checked", (id, problem: string | RegExp) => {
  const check = () => checkClientUrl(id, ["service.example.org", ".apps.example.net"]);
  expect(catchError(check)?.message ?? "").toMatch(problem);
});

test("the URL of a client that cannot be used is an error of the client, with an example", () => {
  const error = catchError(() => checkClientUrl("http://client.example.com/x", []));
  expect(error).toBeInstanceOf(UnusableClient);
  expect(error?.message).toMatch(/^client_id: .*\. Example: https:\/\//);
});

function catchError(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    return error as Error;
  }
}

const ID = "https://client.example.com/client.json";
const CALLBACK = "https://client.example.com/callback";
const parse = (members: object) =>
  parseClientMetadata({ client_id: ID, client_name: " Editor ", redirect_uris: [CALLBACK], ...members }, ID);

test("a document without optional members gets the defaults, and unknown members are ignored", () => {
  expect(parse({ unknown: true })).toEqual({
    client_id: ID,
    client_name: "Editor",
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
});

test("a document may list more grant and response types than the service uses", () => {
  const { grant_types: grantTypes, response_types: responseTypes } = parse({
    grant_types: ["implicit", "authorization_code"],
    response_types: ["token", "code"],
  });
  expect([grantTypes, responseTypes]).toEqual([["authorization_code"], ["code"]]);
});

test("a document may contain keys for private_key_jwt, which are ignored for a client without authentication", () => {
  const jwks = { keys: [{ kty: "EC" }] };
  expect(parse({ token_endpoint_auth_method: "private_key_jwt", jwks })).toMatchObject({ jwks });
  expect(parse({ jwks })).not.toHaveProperty("jwks");
});

test("a program may publish a document, and so may a web application", () => {
  expect(parse({ application_type: "web" })).toMatchObject({ application_type: "web" });
  expect(parse({ application_type: "native", redirect_uris: ["cursor://callback"] })).toMatchObject({
    application_type: "native",
    redirect_uris: ["cursor://callback"],
    token_endpoint_auth_method: "none",
  });
});

const uris = (count: number) => Array.from({ length: count }, (_, at) => `${CALLBACK}/${at}`);

test.each([
  [{ client_name: "x".repeat(100), redirect_uris: uris(20) }],
  [{ redirect_uris: [`https://e.com/${"x".repeat(1024 - "https://e.com/".length)}`] }],
])("a document at the limits is accepted", (members) => {
  expect(parse(members)).toMatchObject(members);
});

test.each([
  [{ client_id: `${ID}x` }, "client_id: must be exactly the URL of the document"],
  [{ client_secret: "x" }, "client_secret: must not be published"],
  [{ client_name: undefined }, "client_name: must be a string"],
  [{ client_name: " " }, "client_name: must be 1 to 100 visible characters"],
  [{ client_name: "x".repeat(101) }, "client_name: must be 1 to 100 visible characters"],
  [{ client_name: "a\u202eb" }, "client_name: must be 1 to 100 visible characters"],
  [{ redirect_uris: CALLBACK }, "redirect_uris: must be a list of strings"],
  [{ redirect_uris: [] }, "redirect_uris: must have at least 1 entry"],
  [{ redirect_uris: uris(21) }, "redirect_uris: must have at most 20 entries"],
  [{ redirect_uris: [CALLBACK, "x".repeat(1025)] }, "redirect_uris: must have at most 1024 characters each"],
  [{ redirect_uris: [CALLBACK, "javascript:x"] }, `redirect_uris: ${REDIRECT_RULE}`],
  [{ redirect_uris: [CALLBACK, "x\0"] }, "redirect_uris: must have visible characters only"],
  [{ redirect_uris: ["\ud800"] }, "redirect_uris: must have visible characters only"],
  [{ token_endpoint_auth_method: "client_secret_post" }, "token_endpoint_auth_method: must be none or private_key_jwt"],
  [{ grant_types: ["refresh_token"] }, "grant_types: must include authorization_code"],
  [{ response_types: ["token"] }, "response_types: must include code"],
  [{ application_type: "server" }, "application_type: must be web or native"],
  [{ token_endpoint_auth_method: "private_key_jwt" }, "jwks: required for private_key_jwt"],
  [
    { redirect_uris: ["cursor://x", CALLBACK], token_endpoint_auth_method: "private_key_jwt", jwks: {} },
    "token_endpoint_auth_method: must be none for a redirect URI with a scheme of a program",
  ],
])("a document with %o is rejected", (members, problem) => {
  expect(() => parse(members)).toThrow(UnusableClient);
  expect(() => parse(members)).toThrow(`Invalid client metadata document. ${problem}`);
});

test("a registration without redirect URIs, or with a malformed list, is only kept from tokens that are bound to a key", () => {
  for (const registration of [{ redirect_uris: ["http://localhost/x", 7] }, { redirect_uris: CALLBACK }, {}])
    expect(normalizeClientRegistration({ ...registration, dpop_bound_access_tokens: true })).toEqual({
      ...registration,
      dpop_bound_access_tokens: false,
    });
});

test.each([
  ["http://localhost:7/x", true],
  ["HTTP://127.0.0.1", true],
  ["http://[::1]/x", true],
  ["https://localhost/x", false],
  ["http://localhost.example.com/x", false],
  ["http://127a0b0c1/x", false],
  ["https://example.com/http://localhost/", false],
])("a client with the redirect URI %j is native by default: %s", (uri, isNative) => {
  const { application_type: type } = normalizeClientRegistration({ redirect_uris: [CALLBACK, uri] });
  expect(type).toBe(isNative ? "native" : undefined);
});

test("a client with the scheme of a program is native and public by default, and what it registers takes precedence", () => {
  const normalized = normalizeClientRegistration({ redirect_uris: ["cursor://x", CALLBACK] });
  expect(normalized).toEqual({
    application_type: "native",
    token_endpoint_auth_method: "none",
    dpop_bound_access_tokens: false,
    redirect_uris: [expect.stringMatching(/^private-use/), CALLBACK],
  });
  const own = { application_type: "web", token_endpoint_auth_method: "client_secret_post" };
  expect(normalizeClientRegistration({ redirect_uris: ["cursor://x"], ...own })).toMatchObject(own);
  expect(normalizeClientRegistration({ redirect_uris: ["http://localhost/x"] })).not.toHaveProperty(
    "token_endpoint_auth_method",
  );
});

const registrationOfLength = (length: number) => ({ scope: "x".repeat(length - JSON.stringify({ scope: "" }).length) });
const link = (field: string, value: unknown) => ({ [field]: value });

test.each([
  [{}],
  [registrationOfLength(8192)],
  [{ client_name: "x".repeat(100), redirect_uris: uris(20) }],
  [{ client_name: 7, redirect_uris: "x".repeat(200) }],
  [{ client_uri: "HTTPS://example.com", logo_uri: "http://example.com", tos_uri: 7 }],
  [{ redirect_uris: ["cursor://x"] }],
  [{ redirect_uris: ["cursor://x"], application_type: "native", token_endpoint_auth_method: "none" }],
  [{ redirect_uris: [CALLBACK], application_type: "web", token_endpoint_auth_method: "client_secret_post" }],
])("a registration %# is accepted", (client) => {
  expect(() => checkClientRegistration(client)).not.toThrow();
});

const METADATA = "invalid_client_metadata";
const REDIRECT = "invalid_redirect_uri";

test.each([
  [registrationOfLength(8193), METADATA, "at most 8192 characters"],
  [{ client_name: "x".repeat(101) }, METADATA, "client_name: must have at most 100 characters"],
  [{ redirect_uris: uris(21) }, METADATA, "redirect_uris: must have at most 20 entries"],
  ...["backchannel_logout_uri", "jwks_uri", "sector_identifier_uri"].map(
    (field) => [link(field, null), METADATA, `${field}: not supported`] as const,
  ),
  ...["client_uri", "logo_uri", "tos_uri", "policy_uri"].map(
    (field) => [link(field, "x https://example.com"), METADATA, `${field}: must be an http or https URL`] as const,
  ),
  [{ redirect_uris: [CALLBACK, "javascript:/x"] }, REDIRECT, "redirect_uris: the scheme has a meaning"],
  [{ redirect_uris: ["cursor://x"], application_type: "web" }, REDIRECT, "requires application_type native"],
  [
    { redirect_uris: ["cursor://x"], token_endpoint_auth_method: "client_secret_post" },
    REDIRECT,
    "requires token_endpoint_auth_method none",
  ],
] as [Record<string, unknown>, string, string][])(
  "a registration with %o is rejected",
  (client, error, description) => {
    const check = () => checkClientRegistration(client);
    expect(check).toThrow(
      expect.objectContaining({
        statusCode: 400,
        body: { error, error_description: expect.stringContaining(description) },
      }),
    );
  },
);
