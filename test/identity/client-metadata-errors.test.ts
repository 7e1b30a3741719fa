import { afterAll, beforeAll, expect, test } from "vitest";
import { checkClientUrl } from "../../server/identity/client-id-url.ts";
import { REDIRECT_URI } from "../support/identity/client-publisher.ts";
import { createHarness } from "../support/service/harness.ts";
import { OAuthRequests, UNSAFE_REDIRECT_URIS } from "../support/identity/oauth-requests.ts";
import { randomAddress, TestUser } from "../support/identity/test-user.ts";
import { CHALLENGE, openPublishedClients, type PublishedClients } from "../support/identity/published-clients.ts";

let clients: PublishedClients;

beforeAll(async () => {
  clients = await openPublishedClients();
});
afterAll(() => clients?.[Symbol.asyncDispose]());

test("a client id that is not a normalized https URL, or is on a host of the service, is rejected without a fetch", async () => {
  const requestsBefore = clients.publisher.requests.length;
  const path = "/client.json";
  const valid = clients.publisher.publish(path);
  const host = `client.example.com:${clients.publisher.port}`;
  const urls = [
    valid.replace("https:", "http:"),
    valid.replace("https:", "HTTPS:"),
    valid.replace("client.ex", "Client.ex"),
    `https://${host}`,
    `https://${host}/`,
    `${valid}#fragment`,
    `${valid}#`,
    `${valid}?query=1`,
    `${valid}?`,
    `https://ada@${host}${path}`,
    `https://ada:secret@${host}${path}`,
    `https://@${host}${path}`,
    `https://${host}/./client.json`,
    `https://${host}/x/../client.json`,
    `https://${host}/x/%2e%2e/client.json`,
    `https://${host}\\client.json`,
    `https:/${host}${path}`,
    `https:${host}${path}`,
    `${valid} `,
    `https://127.0.0.1:${clients.publisher.port}${path}`,
    `https://[::1]${path}`,
    `https://2130706433${path}`,
    `https://localhost${path}`,
    `https://intranet${path}`,
    `https://client.example.com.${path}`,
    "https://",
    `https://client.example.com:443${path}`,
    `https://${host}/${"x".repeat(512)}`,
    `https://ex\nample.com${path}`,
    `https://apps.example.net${path}`,
    `https://an-app.apps.example.net${path}`,
  ];
  for (const url of urls) {
    const response = await clients.authorize(url);
    expect([url, response.destination, response.body["error"]]).toEqual([url, "400", "invalid_client"]);
  }
  expect(clients.publisher.requests).toHaveLength(requestsBefore);
  const ownHosts = ["service.example.com"];
  for (const url of ["https://service.example.com/client.json", "https://service.example.com:8443/client.json"])
    expect(() => checkClientUrl(url, ownHosts)).toThrow("the URL must not be on a host of this service");
  expect(() => checkClientUrl("https://another-service.example.com/client.json", ownHosts)).not.toThrow();
});

test("an invalid document is rejected: it is not stored, and neither the response nor the log quotes it", async () => {
  const site = clients.publisher.site("refused");
  const invalid: Record<string, unknown>[] = [
    { client_id: site.url("/another.json") },
    { client_id: undefined },
    { client_id: [site.url("/0.json")] },
    { client_secret: "secret" },
    { client_secret_expires_at: 0 },
    { skip_consent: true },
    { user_id: "me" },
    ...["client_secret_post", "client_secret_basic", "client_secret_jwt", "tls_client_auth", 1].map((method) => ({
      token_endpoint_auth_method: method,
    })),
    { token_endpoint_auth_method: "private_key_jwt" },
    { token_endpoint_auth_method: "private_key_jwt", jwks_uri: site.url("/keys.json") },
    { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } },
    { redirect_uris: undefined },
    { redirect_uris: [] },
    { redirect_uris: REDIRECT_URI },
    { redirect_uris: [1] },
    ...["\0", "\ud800", "\n"].map((hidden) => ({
      redirect_uris: [REDIRECT_URI, `https://client.example.com/${hidden}`],
    })),
    { redirect_uris: Array.from({ length: 21 }, (_, at) => `https://client.example.com/${at}`) },
    ...[undefined, "", "  ", "x".repeat(101), 1, "Client\0", "Cli\nent", "\u202Etneilc", "Cli\u200Bent"].map(
      (name) => ({
        client_name: name,
      }),
    ),
    { grant_types: ["client_credentials"] },
    { grant_types: "authorization_code" },
    { response_types: ["token"] },
    { backchannel_logout_uri: site.url("/logout"), backchannelLogoutUri: site.url("/logout") },
  ];
  for (const [at, members] of invalid.entries()) {
    const url = site.publish(`/${at}.json`, { marker: "a-marker", ...members });
    const response = await clients.authorize(url);
    expect([members, response.destination, response.body["error"]]).toEqual([members, "400", "invalid_client"]);
    expect(response.text).not.toMatch(/a-marker|another|c2VjcmV0|"secret"/);
    expect([members, await clients.countRows("oauthClient", url)]).toEqual([members, 0]);
  }
  const logged = clients.harness.logged();
  expect([logged.includes("an OAuth client was refused"), logged.includes("a-marker")]).toEqual([true, false]);
  expect(logged).not.toContain("the identity provider failed");
});

test("no user is redirected to a script, a file, a remote http URL or a URL with credentials, whatever a document contains", async () => {
  const site = clients.publisher.site("redirecting");
  for (const [at, uri] of [...UNSAFE_REDIRECT_URIS, "custom:x"].entries()) {
    const url = site.publish(`/redirect-${at}.json`, { redirect_uris: [uri] });
    const response = await clients.authorize(url, { redirect_uri: uri });
    // better-auth rejects some redirect URIs in the request, before the document is fetched.
    expect([uri, response.destination]).toEqual([uri, "400"]);
    expect([uri, response.text.includes(uri || 'redirect_uris: "')]).toEqual([uri, false]);
  }
});

test("the response says why a document cannot be read, and the URL is not fetched again at once", async () => {
  const goneUrl = clients.publisher.url("/gone.json");
  const address = randomAddress();
  const first = await clients.authorize(goneUrl, {}, address);
  expect([first.status, first.body["error_description"]]).toEqual([
    400,
    "The client's metadata document cannot be read: its host responded with status 404, not 200.",
  ]);
  clients.publisher.publish("/gone.json");
  const again = await clients.authorize(goneUrl);
  expect([again.status, again.headers.get("retry-after"), again.body["error_description"]]).toEqual([
    429,
    expect.stringMatching(/^([1-9]|10)$/),
    expect.stringMatching(/404.*Try again in \d+ seconds\.$/),
  ]);
  expect(clients.countRequests("/gone.json")).toBe(1);
  const sites = ["many", "more"].map((name) => clients.publisher.site(name));
  const statuses: number[] = [];
  for (let at = 0; at < 60; at++)
    statuses.push((await clients.authorize(sites[at % 2]!.url(`/${at}`), {}, address)).status);
  expect([new Set(statuses.slice(0, -1)), statuses.at(-1)]).toEqual([new Set([400]), 429]);
  expect((await clients.authorize(sites[0]!.publish("/good.json"))).destination).toBe("/consent");
});

test("no endpoint other than the authorization endpoint fetches the document of an unknown client", async () => {
  const url = clients.publisher.publish("/unknown.json");
  const code = {
    grant_type: "authorization_code",
    code: "x",
    code_verifier: "x".repeat(43),
    redirect_uri: REDIRECT_URI,
  };
  await clients.oauth.requestToken({ ...code, client_id: url });
  await clients.oauth.requestToken({ grant_type: "refresh_token", refresh_token: "x", client_id: url });
  await clients.oauth.requestDeviceCode(url, `${clients.publicUrl}/mcp`, "read");
  for (const path of ["public-client", "get-client", "end-session"])
    await clients.user.get(`/oauth2/${path}?${new URLSearchParams({ client_id: url }).toString()}`);
  for (const path of ["revoke", "introspect"])
    await clients.user.send("POST", `/api/auth/oauth2/${path}`, {
      body: new URLSearchParams({ token: "x", client_id: url }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", origin: clients.publicUrl },
    });
  expect([clients.countRequests("/unknown.json"), await clients.countRows("oauthClient", url)]).toEqual([0, 0]);
});

test("with CLIENT_METADATA_DOCUMENTS=off, a client must register, and no document is fetched", async () => {
  await using harness = await createHarness({
    clientMetadata: clients.publisher.createFetcher(),
    config: { clientMetadataDocuments: "off" },
  });
  const user = new TestUser(harness.service.publicUrl);
  const { body } = await user.send("GET", "/.well-known/oauth-authorization-server");
  expect([body["client_id_metadata_document_supported"], body["issuer"]]).toEqual([
    undefined,
    harness.service.publicUrl,
  ]);
  const requests = new OAuthRequests(harness.service.publicUrl, user);
  const { pathname, search } = requests.authorizeUrl(clients.publisher.publish("/off.json"), CHALLENGE);
  const response = await user.send("GET", pathname + search);
  expect([response.status, response.body["error"]]).toEqual([400, "invalid_client"]);
  expect(clients.countRequests("/off.json")).toBe(0);
});
