import { APIError } from "better-auth/api";
import { expect, test } from "vitest";
import { readClientAddress, readFields, readSignInAttempt } from "../../server/identity/auth-call.ts";
import { authOptions } from "../../server/identity/auth-options.ts";
import { withDefaultResource } from "../../server/identity/default-resource.ts";
import { removeDpopKey, withoutDpopMetadata } from "../../server/identity/ignored-dpop.ts";
import { isErrorResponse } from "../../server/identity/is-error-response.ts";
import { dateColumns } from "../../server/identity/open-auth.ts";
import { isProtectedResourcePath, nameResourceOf } from "../../server/identity/protected-resource-metadata.ts";
import { invitationLink } from "../../server/identity/redact-organization.ts";
import { readRefreshToken } from "../../server/identity/refresh-lock.ts";
import { readTokenRequestClient } from "../../server/identity/side-effects.ts";
import { validateAuthInput } from "../../server/identity/validate-auth-input.ts";

const ORIGIN = "https://service.example.com";

test("an authorization without a resource is for the gateway, and one with a resource is unchanged", () => {
  const gateway = { scope: "read", resource: `${ORIGIN}/mcp` };
  for (const resource of [undefined, ""])
    expect(withDefaultResource({ scope: "read", resource }, ORIGIN)).toEqual(gateway);
  const rest = { resource: `${ORIGIN}/v1` };
  expect(withDefaultResource(rest, ORIGIN)).toBe(rest);
});

test("a metadata document does not offer DPoP, and keeps its other members and headers", async () => {
  const headers = { "cache-control": "max-age=5" };
  const document = { issuer: ORIGIN, dpop_signing_alg_values_supported: ["ES256"] };
  const changed = await withoutDpopMetadata(Response.json(document, { headers }));
  expect([await changed.json(), changed.headers.get("cache-control")]).toEqual([{ issuer: ORIGIN }, "max-age=5"]);
  for (const response of [new Response("none", { status: 404 }), new Response(null)])
    expect(await withoutDpopMetadata(response)).toBe(response);
});

test("the key of a client is removed from its request", () => {
  const request = { dpop_jkt: "key", scope: "read" };
  removeDpopKey(request);
  removeDpopKey(undefined);
  expect(request).toEqual({ scope: "read" });
});

test.each([
  ["/.well-known/oauth-protected-resource", true],
  ["/.well-known/oauth-protected-resource/mcp", true],
  ["/.well-known/oauth-protected-resource/v1", false],
  ["/mcp", false],
])("the path %s is that of the metadata of the gateway: %s", (path, expected) => {
  expect(isProtectedResourcePath(path)).toBe(expected);
});

test("the metadata of the gateway names the origin of the client, and keeps its other members and headers", async () => {
  const headers = { "cache-control": "max-age=5" };
  const response = Response.json({ resource: "x", scopes_supported: ["read"] }, { headers });
  const named = await nameResourceOf(response, "http://localhost:3000");
  expect(await named.json()).toEqual({ resource: "http://localhost:3000/mcp", scopes_supported: ["read"] });
  expect(named.headers.get("cache-control")).toBe("max-age=5");
  for (const other of [new Response("none", { status: 500 }), new Response(null)])
    expect(await nameResourceOf(other, ORIGIN)).toBe(other);
});

test("a pending invitation has a link until it expires", () => {
  const link = (status: string, expiresAt: Date | string) => invitationLink(ORIGIN, { id: "42", status, expiresAt });
  const [later, earlier] = [new Date(Date.now() + 60_000), new Date(Date.now() - 60_000)];
  expect(link("pending", later)).toBe(`${ORIGIN}/invitations/42`);
  expect(link("pending", later.toISOString())).toBe(`${ORIGIN}/invitations/42`);
  expect([link("pending", earlier), link("accepted", later)]).toEqual([null, null]);
});

const jwtOf = (claims: unknown) =>
  `h.${Buffer.from(typeof claims === "string" ? claims : JSON.stringify(claims)).toString("base64url")}.s`;
const basic = (credentials: string, scheme = "Basic ") => ({
  headers: new Headers({ authorization: `${scheme}${Buffer.from(credentials).toString("base64")}` }),
});

test.each([
  [{ body: { client_id: "a" }, ...basic("b:x") }, "a"],
  [{ body: { client_assertion: jwtOf({ sub: "b" }), client_id: 7 } }, "b"],
  [{ body: { client_assertion: jwtOf({ sub: 7 }) } }, null],
  [{ body: { client_assertion: jwtOf("no JSON") } }, null],
  [{ body: { client_assertion: "text" } }, null],
  [basic("c:secret:x"), "c"],
  [basic("https%3A%2F%2Fc.example%2Fx+y:secret", "basic  "), "https://c.example/x y"],
  [{ headers: new Headers({ authorization: "Bearer Yzp4" }) }, null],
  [{ headers: new Headers({ authorization: "Basic Yzp4 more" }) }, null],
  [{ headers: new Headers({ authorization: "x Basic Yzp4" }) }, null],
  [{ headers: new Headers() }, null],
  [{}, null],
])("the client of a token request %# is found wherever it is", (call, expected) => {
  expect(readTokenRequestClient(call)).toBe(expected);
});

test("only a refresh has a refresh token, and the request can still be read", async () => {
  const form = "grant_type=refresh_token&refresh_token=secret";
  const post = (path: string, body: string) => new Request(`${ORIGIN}${path}`, { method: "POST", body });
  const refresh = post("/api/auth/oauth2/token", form);
  expect([await readRefreshToken(refresh), await refresh.text()]).toEqual(["secret", form]);
  expect(await readRefreshToken(post("/api/auth/oauth2/token", "grant_type=code&refresh_token=x"))).toBeNull();
  expect(await readRefreshToken(post("/api/auth/oauth2/token", "grant_type=refresh_token"))).toBeNull();
  expect(await readRefreshToken(post("/api/auth/oauth2/revoke", form))).toBeNull();
  expect(await readRefreshToken(new Request(`${ORIGIN}/api/auth/oauth2/token`))).toBeNull();
});

test("the fields of a value that is not an object are empty", () => {
  for (const value of [undefined, null, "text", 7]) expect(readFields(value)).toEqual({});
  expect(readFields({ a: 1 })).toEqual({ a: 1 });
});

test("a sign-in attempt has the network of the client and the email address of the form", () => {
  const headers = new Headers({ "x-client-address": "2001:db8::1" });
  const { network, email } = readSignInAttempt({ body: { email: "ada@example.com" }, headers });
  expect(email).toBe("ada@example.com");
  expect(readSignInAttempt({ body: { email: 7 }, headers })).toEqual({ network, email: "" });
  expect([readClientAddress(headers), readClientAddress(new Headers())]).toEqual(["2001:db8::1", "unknown"]);
  expect(readClientAddress(undefined)).toBe("unknown");
});

test("an error of better-auth is an error response, unless it is a redirect", () => {
  expect(isErrorResponse(new APIError("BAD_REQUEST"))).toBe(true);
  expect(isErrorResponse(new APIError("INTERNAL_SERVER_ERROR"))).toBe(true);
  expect(isErrorResponse(new APIError("FOUND"))).toBe(false);
  expect([isErrorResponse({ statusCode: 400 }), isErrorResponse(undefined)]).toEqual([false, false]);
});

test("texts in the date columns of better-auth become dates, and all other values stay", async () => {
  const plugin = dateColumns(
    authOptions({
      publicUrl: ORIGIN,
      secret: "secret",
      social: { github: null, google: null },
      clientMetadataRegistration: null,
      resolveConsentedOrganization: () => Promise.resolve("none"),
      hooks: {},
    }),
  );
  const time = "2026-01-02T03:04:05.000Z";
  const row = { expiresAt: time, createdAt: time, name: time, updatedAt: null, banExpires: 7 };
  const { result } = { result: { rows: [row] } };
  expect((await plugin.transformResult({ result } as never)).rows).toEqual([
    { expiresAt: new Date(time), createdAt: new Date(time), name: time, updatedAt: null, banExpires: 7 },
  ]);
  const node = { kind: "SelectQueryNode" };
  expect(plugin.transformQuery({ node } as never)).toBe(node);
});

const UUID = "0189d3f4-8a54-7cc3-9f0a-0123456789ab";
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

test.each([
  ["/sign-up/email", { name: "x".repeat(100), password: "x".repeat(4096) }],
  ["/sign-up/email", { data: { name: "x".repeat(100), slug: "x".repeat(100) } }],
  ["/oauth2/consent", { oauth_query: "x".repeat(5000) }],
  ["/sign-in/email", { a: nested(19), text: "😀", number: 1, nothing: null }],
  ["/organization/create", { organizationId: UUID, invitationId: 7 }],
  ["/organization/list-members", { id: "any" }],
  ["/sign-up/email", { organizationId: "any", role: "admin", resend: true }],
  ["/organization/get-invitation", { id: UUID }],
  ["/organization/remove-member", { memberIdOrEmail: "ada@example.com" }],
  ["/organization/remove-member", { memberIdOrEmail: UUID }],
  ["/organization/invite-member", { role: "admin" }],
  ["/organization/update-member-role", { role: "owner" }],
  ["/oauth2/register", { client_name: "Editor" }],
  ["/device/code", { backchannel_logout_uri: "https://example.com" }],
])("a request to %s with valid input %# is accepted", (path, body) => {
  expect(() => validateAuthInput({ path, body, query: undefined })).not.toThrow();
});

const invite = (fields: object) => ["/organization/invite-member", fields] as const;

test.each([
  ["/sign-in/email", { email: "a\0" }, "NUL or a lone surrogate"],
  ["/sign-in/email", { email: "\ud800" }, "NUL or a lone surrogate"],
  ["/sign-in/email", { "\0": 1 }, "NUL or a lone surrogate"],
  ["/sign-in/email", { a: [{ b: "\0" }] }, "NUL or a lone surrogate"],
  ["/sign-in/email", nested(21), "at most 20 levels"],
  ["/sign-up/email", { name: "x".repeat(101) }, "name or slug must have at most 100"],
  ["/organization/create", { slug: "x".repeat(101) }, "name or slug must have at most 100"],
  ["/organization/update", { data: { name: "x".repeat(101) } }, "name or slug must have at most 100"],
  ["/sign-in/email", { password: "x".repeat(4097) }, "text must have at most 4096"],
  ["/organization/update", { data: { logo: "x".repeat(4097) } }, "text must have at most 4096"],
  ...["organizationId", "invitationId", "memberId", "userId"].map(
    (name) => ["/organization/x", { [name]: "7" }, `${name}: must be a UUID.`] as const,
  ),
  ["/organization/get-invitation", { id: "7" }, "id: must be a UUID."],
  ["/organization/get-invitation", { userId: "7" }, "userId: must be a UUID."],
  ["/organization/remove-member", { memberIdOrEmail: "ada" }, "memberIdOrEmail: must be a UUID or an email address."],
  [...invite({ role: " owner" }), "role: must be one of"],
  [...invite({}), "role: must be one of"],
  [...invite({ role: "member", resend: false }), "resend: not supported"],
  ["/organization/update-member-role", { role: ["owner"] }, "role: must be one of"],
  ["/oauth2/register", { jwks_uri: "https://example.com" }, "jwks_uri: not supported"],
] as [string, unknown, string][])("400 rejects a request to %s with the input %#", (path, body, message) => {
  const validate = () => validateAuthInput({ path, body, query: undefined });
  const error = catchError(validate);
  expect(error).toMatchObject({ statusCode: 400 });
  expect(JSON.stringify(error.body)).toContain(message);
});

test("400 rejects the query of a request as its body", () => {
  for (const [path, query] of [
    ["/organization/list-members", { organizationId: "7" }],
    ["/sign-in/email", { a: "\0" }],
  ] as const) {
    const error = catchError(() => validateAuthInput({ path, body: undefined, query }));
    expect([error.statusCode, error.body?.code]).toEqual([400, "INVALID"]);
  }
});

function catchError(work: () => void): APIError {
  try {
    work();
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
  throw new Error("the input was accepted");
}
