import { expect, test } from "vitest";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const CLIENT = {
  client_name: "Client",
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  redirect_uris: ["https://client.example.com/callback"],
};

function register(more: object) {
  return new TestUser(service().service.publicUrl).post("/oauth2/register", { ...CLIENT, ...more });
}

test("clients that are native without saying so may register, and so may those that say so", async () => {
  const loopback = ["http://127.0.0.1:33418/", "http://localhost/callback", "http://[::1]:1/"];
  for (const more of [
    {},
    { redirect_uris: loopback },
    { redirect_uris: ["com.example.app:/callback"] },
    { redirect_uris: ["https://editor.example.com/redirect", ...loopback] },
    { redirect_uris: [...CLIENT.redirect_uris, ...loopback], application_type: "native" },
  ])
    expect([more, (await register(more)).status]).toEqual([more, 201]);
});

test("no client is redirected to a script, a file, a plain foreign address or one with credentials", async () => {
  const redirects = [
    ...["javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "javascript.x:alert(1)//", "vbscript:x"],
    ...["data:text/html,x", "file:///etc/passwd", "blob:https://x/y", "about:blank", "", "//elsewhere.example.com"],
    ...["http://elsewhere.example.com/", "http://localhost.example.com/", "http://127.0.0.1@elsewhere.example.com/"],
    ...["https://user:password@elsewhere.example.com/", "https://elsewhere.example.com/#fragment"],
  ];
  for (const redirect of redirects)
    for (const type of [{}, { application_type: "native" }, { application_type: "web" }]) {
      const answer = await register({ redirect_uris: [redirect], ...type });
      expect([redirect, type, answer.status]).toEqual([redirect, type, 400]);
    }
});

test("a client that registers by itself gets no rights of its own, and makes the service call nobody", async () => {
  const refused = [
    { skip_consent: true },
    { grant_types: ["client_credentials"], token_endpoint_auth_method: "client_secret_post" },
    { scope: "everything admin" },
    { resources: ["https://elsewhere.example.com"] },
    { backchannel_logout_uri: "https://internal.example.com/" },
    { backchannel_logout_uri: "http://169.254.169.254/" },
    { jwks_uri: "https://internal.example.com/", token_endpoint_auth_method: "private_key_jwt" },
    { sector_identifier_uri: "https://internal.example.com/" },
  ];
  for (const more of refused) expect([more, (await register(more)).status]).toEqual([more, 400]);
  const chosen = { client_id: "mine", skipConsent: true, requirePKCE: false, require_pkce: false, user_id: "me" };
  const { status, body } = await register(chosen);
  expect(status === 400 || body["client_id"] !== "mine").toBe(true);
});

test("what a client says of itself is short, and its links are links", async () => {
  const refused = [
    { client_name: "x".repeat(101) },
    { client_name: "Client\0" },
    { redirect_uris: Array.from({ length: 21 }, (_, at) => `https://client.example.com/${at}`) },
    { software_id: "x".repeat(5000) },
    { contacts: Array.from({ length: 1000 }, () => "ada@example.com") },
    { client_uri: "javascript:alert(1)" },
    { logo_uri: "data:image/svg+xml,x" },
    { tos_uri: "javascript:alert(1)" },
    { policy_uri: "vbscript:x" },
  ];
  for (const more of refused) expect([more, (await register(more)).status]).toEqual([more, 400]);
});

test("no client gets a code before the person has authorizeWithConsent, however it asks", async () => {
  const { publicUrl } = service().service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const { body } = await register({});
  const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
  const query = { response_type: "code", client_id: String(body["client_id"]), redirect_uri: CLIENT.redirect_uris[0]! };
  for (const more of [{}, { prompt: "none" }] as Record<string, string>[]) {
    const search = new URLSearchParams({
      ...query,
      ...challenge,
      ...more,
      resource: `${publicUrl}/mcp`,
      scope: "read",
    });
    const { headers, body: answer } = await person.send("GET", `/api/auth/oauth2/authorize?${search.toString()}`);
    const to = new URL(headers.get("location") ?? String(answer["url"]), publicUrl);
    expect([more, to.searchParams.has("code")]).toEqual([more, false]);
  }
});
