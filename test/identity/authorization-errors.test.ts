import { afterAll, beforeAll, expect, test } from "vitest";
import { explainAuthorizationError } from "../../server/identity/authorization-error.ts";
import { CHALLENGE, openPublishedClients, type PublishedClients } from "../support/identity/published-clients.ts";
import { TestUser } from "../support/identity/test-user.ts";

let clients: PublishedClients;

beforeAll(async () => {
  clients = await openPublishedClients();
});
afterAll(() => clients?.[Symbol.asyncDispose]());

/** Opens an authorization request in the browser of a user. */
function open(user: TestUser, clientId: string, query: Record<string, string> = {}) {
  const common = { resource: `${clients.publicUrl}/mcp`, scope: "read", ...CHALLENGE };
  const { pathname, search } = clients.oauth.authorizeUrl(clientId, { ...common, ...query });
  return user.visit(pathname + search);
}

/** Expects a page of the service that is not a redirect, and returns its text. */
async function expectPage(opening: ReturnType<typeof open>, status: number): Promise<string> {
  const response = await opening;
  const { headers } = response;
  expect([response.status, headers.get("location"), headers.get("content-type")]).toEqual([
    status,
    null,
    "text/html; charset=utf-8",
  ]);
  expect([headers.get("cache-control"), headers.get("content-security-policy")]).toEqual([
    "no-store",
    expect.stringContaining("default-src 'none'"),
  ]);
  expect(response.text).toMatch(/^<!doctype html>/);
  expect(response.text).not.toMatch(/<script|<form/);
  return response.text;
}

test("an unknown client gets a page that says what to do, whether or not the user is signed in", async () => {
  for (const user of [clients.user, new TestUser(clients.publicUrl)]) {
    const page = await expectPage(open(user, "a-client-of-an-earlier-database"), 400);
    expect(page).toContain("This client is not known here any more.");
    expect(page).toContain("Remove the connection in the client, then connect again.");
    // The advice for a client whose metadata document is wrong.
    expect(page).not.toContain("maker of the client");
  }
});

test("a client with a redirect URI that it has not registered, or that is disabled, gets a page", async () => {
  const clientId = await clients.oauth.register();
  const unregistered = await expectPage(open(clients.user, clientId, { redirect_uri: "http://localhost:1/x" }), 400);
  expect(unregistered).toContain("at an address that it has not registered");
  const em = clients.harness.service.parts.orm.em.fork();
  await em.execute(`update auth."oauthClient" set disabled = true where "clientId" = ?`, [clientId]);
  expect(await expectPage(open(clients.user, clientId), 400)).toContain("has disabled this client");
});

test("a metadata document that cannot be read, and a rate limit, are explained on a page", async () => {
  const url = clients.publisher.url("/missing.json");
  const page = await expectPage(open(clients.user, url), 400);
  expect(page).toContain("The client&#39;s metadata document cannot be read: its host responded with status 404");
  const again = await open(clients.user, url);
  expect([again.status, Number(again.headers.get("retry-after")) > 0, again.text.includes("Try again later")]).toEqual([
    429,
    true,
    true,
  ]);
});

test("an error never opens a program before the user has pressed a button", async () => {
  const redirectUri = "example-editor://connect/callback";
  const clientId = await clients.oauth.register({ redirect_uris: [redirectUri] });
  const invalid: Record<string, string>[] = [
    { code_challenge_method: "plain" },
    { code_challenge: "" },
    { resource: "https://elsewhere.example.com" },
  ];
  for (const query of invalid) {
    const page = await expectPage(open(clients.user, clientId, { redirect_uri: redirectUri, ...query }), 400);
    expect(page).toContain("Error code: <code>invalid_");
  }
});

test("a website or a loopback address of the client still receives its errors", async () => {
  const clientId = await clients.oauth.register();
  const { status, headers } = await open(clients.user, clientId, { code_challenge_method: "plain" });
  expect([status, headers.get("location")]).toEqual([302, expect.stringMatching(/^http:.*[?&]error=invalid_request/)]);
});

test("no page quotes the request, and every character of a page is escaped", async () => {
  const crafted = { state: "<script>alert(1)</script>", scope: "<img src=x>", redirect_uri: "<b>Call us</b>" };
  for (const clientId of ["<b>Call us</b>", await clients.oauth.register()])
    expect(await expectPage(open(clients.user, clientId, crafted), 400)).not.toMatch(/Call us|alert|<img/);
});

test("a page shows the description of an error only if the service itself writes the descriptions of its code", () => {
  const explain = (error: string) => explainAuthorizationError(400, { error, error_description: "Call us" });
  expect(explain("invalid_client").message).toBe("Call us");
  for (const error of ["invalid_request", "invalid_scope", "server_error", "unknown"])
    expect(JSON.stringify(explain(error))).not.toContain("Call us");
});

test("an internal error and a limit on requests are pages too, and the log has the internal error", async () => {
  const clientId = await clients.oauth.register();
  const em = clients.harness.service.parts.orm.em.fork();
  await em.execute(`alter table auth."oauthClient" rename to out_of_reach`);
  try {
    const page = await expectPage(open(clients.user, clientId), 500);
    expect(page).toContain("Something went wrong");
  } finally {
    await em.execute(`alter table auth.out_of_reach rename to "oauthClient"`);
  }
  expect(clients.harness.logged()).toContain("the identity provider failed");
  for (let request = 0; request < 300; request++) await open(clients.user, "x");
  expect(await expectPage(open(clients.user, clientId), 429)).toContain("Try again later");
});

test("a script that sends the request gets the error as JSON", async () => {
  const { status, body } = await clients.authorize("unknown");
  expect([status, body]).toEqual([
    400,
    { error: "invalid_client", error_description: expect.stringContaining("connect again") },
  ]);
});
