import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { CHALLENGE, openPublishedClients, type PublishedClients } from "../support/identity/published-clients.ts";

const CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback";
const PUBLIC_CLIENT = { client_name: "Editor", token_endpoint_auth_method: "none" };
const RESERVED = [
  ...[
    "javascript:/%0aalert(1)",
    "javascript://x/%0aalert(1)",
    "JavaScript:/alert(1)",
    "vbscript:/x",
    "data:/text/html,x",
  ],
  ...["file:///etc/passwd", "filesystem:/x", "blob:/x", "about:/blank", "view-source:/x", "chrome://settings/"],
  ...["chrome-extension://abc/x", "ws://elsewhere.example.com/", "wss://elsewhere.example.com/", "web+app://x/"],
  ...["ftp://elsewhere.example.com/", "mailto:/x", "tel:/1", "ssh://elsewhere.example.com/", "smb://elsewhere/x"],
  ...["ms-settings:/x", "search-ms:/x", "intent://x/", "itms-apps://x/", "x-apple.systempreferences:/x"],
];
const MALFORMED = [
  ...["cursor:callback", "cursor:", "cursor://user:password@callback/", "cursor://callback/#fragment"],
  ...["cursor://callback/#", "cursor://call back/", "cursor://call\nback/", "cursor:\\\\callback", "cursor://\u202e/"],
  `cursor://callback/${"x".repeat(1024)}`,
];

let clients: PublishedClients;

beforeAll(async () => {
  clients = await openPublishedClients();
});
afterAll(() => clients?.[Symbol.asyncDispose]());

function register(fields: object) {
  const grants = { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] };
  return clients.user.post("/oauth2/register", { ...grants, ...fields });
}

test("a public client may register redirect URIs with the scheme of a program, and gets them back unchanged", async () => {
  const lists = [
    [CURSOR],
    ["windsurf://codeium.windsurf/oauth", "http://localhost:8787/callback"],
    ["raycast://oauth?package_name=Extension", "https://raycast.example.com/redirect"],
    ["com.example.app:/callback"],
    ["vscode://publisher.extension/callback", "vscode-insiders://publisher.extension/callback"],
    ["private-use.redirect:/callback"],
  ];
  for (const redirectUris of lists)
    for (const fields of [PUBLIC_CLIENT, { application_type: "native" }]) {
      const { status, body } = await register({ ...fields, redirect_uris: redirectUris });
      expect([status, body["redirect_uris"], body["token_endpoint_auth_method"], body["client_secret"]]).toEqual([
        201,
        redirectUris,
        "none",
        undefined,
      ]);
    }
});

test("400 rejects a redirect URI with a scheme that browsers or systems handle, and a malformed one", async () => {
  for (const redirectUri of [...RESERVED, ...MALFORMED])
    for (const redirectUris of [[redirectUri], [CURSOR, redirectUri]]) {
      const { status, body } = await register({ ...PUBLIC_CLIENT, redirect_uris: redirectUris });
      expect([redirectUri, status, body["error"]]).toEqual([redirectUri, 400, "invalid_redirect_uri"]);
    }
});

test("400 rejects the scheme of a program for a client with a secret or a web application", async () => {
  for (const fields of [
    { token_endpoint_auth_method: "client_secret_basic" },
    { token_endpoint_auth_method: "client_secret_post" },
    { token_endpoint_auth_method: "none", application_type: "web" },
  ]) {
    const { status, body } = await register({ ...fields, redirect_uris: [CURSOR] });
    expect([fields, status, body["error"]]).toEqual([fields, 400, "invalid_redirect_uri"]);
    // better-auth rejects some of them too, and its message names neither the scheme nor what it requires.
    expect(body["error_description"]).toContain("a private-use scheme requires");
  }
});

test("a client gets a token through the scheme of its program, only with PKCE and only at its own redirect URI", async () => {
  const { body } = await register({ ...PUBLIC_CLIENT, redirect_uris: [CURSOR] });
  const clientId = String(body["client_id"]);
  const resource = `${clients.publicUrl}/mcp`;
  const granted = await clients.oauth.grantTo(clientId, { resource, scope: "read", redirect_uri: CURSOR });
  expect(granted.status).toBe(200);
  const gateway = new GatewayClient(clients.publicUrl, String(granted.body["access_token"]));
  expect((await gateway.call("tools/list")).status).toBe(200);
  const withoutPkce = { code_challenge: "", code_challenge_method: "" };
  for (const query of [{ redirect_uri: CURSOR, ...withoutPkce }, { redirect_uri: `${CURSOR}/elsewhere` }]) {
    const { destination } = await clients.authorize(clientId, { ...CHALLENGE, ...query });
    expect([query, destination === "/consent" || destination.includes("code=")]).toEqual([query, false]);
  }
});

test("every redirect to a program needs the consent of the user, also after an earlier consent", async () => {
  const loopback = "http://127.0.0.1:41999/callback";
  const { body } = await register({ ...PUBLIC_CLIENT, redirect_uris: [CURSOR, loopback] });
  const clientId = String(body["client_id"]);
  const resource = `${clients.publicUrl}/mcp`;
  await clients.oauth.grantTo(clientId, { resource, scope: "read", redirect_uri: CURSOR });
  expect((await clients.authorize(clientId, { redirect_uri: loopback })).destination).toContain("code=");
  for (const prompt of [{}, { prompt: "none" }, { prompt: "consent" }] as Record<string, string>[])
    expect((await clients.authorize(clientId, { redirect_uri: CURSOR, ...prompt })).destination).toBe("/consent");
});

test("a metadata document may contain redirect URIs with the scheme of a program", async () => {
  const path = "/editor.json";
  const url = clients.publisher.publish(path, { redirect_uris: [CURSOR] });
  const query = { resource: `${clients.publicUrl}/mcp`, scope: "read", redirect_uri: CURSOR };
  expect((await clients.oauth.grantTo(url, query)).status).toBe(200);
  await clients.makeStale(url);
  expect((await clients.authorize(url, query)).destination).toBe("/consent");
  expect([clients.countRequests(path), await clients.countRows("oauthConsent", url)]).toEqual([2, 1]);
  const site = clients.publisher.site("editor");
  const invalid = [...RESERVED, ...MALFORMED].map((uri) => ({ redirect_uris: [CURSOR, uri] }));
  for (const [at, members] of [...invalid, { redirect_uris: [CURSOR], application_type: "web" }].entries()) {
    const document = site.publish(`/${at}.json`, members);
    const { status, body } = await clients.authorize(document, { redirect_uri: CURSOR });
    expect([members, status, body["error"]]).toEqual([members, 400, "invalid_client"]);
    expect(JSON.stringify(body)).not.toContain(CURSOR);
  }
});
