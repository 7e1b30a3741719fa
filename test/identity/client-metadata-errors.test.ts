import { afterAll, beforeAll, expect, test } from "vitest";
import { checkClientUrl } from "../../server/identity/client-id-url.ts";
import { REDIRECT } from "../support/identity/client-publisher.ts";
import { createHarness } from "../support/service/harness.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import {
  CHALLENGE,
  openPublishedClients,
  type PublishedClients,
  somewhere,
} from "../support/identity/published-clients.ts";

let world: PublishedClients;

beforeAll(async () => {
  world = await openPublishedClients();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test("a client id that is no https URL in its normal form, of a host that is not ours, is refused unasked", async () => {
  const before = world.publisher.asked.length;
  const path = "/client.json";
  const good = world.publisher.publish(path);
  const host = `client.example.com:${world.publisher.port}`;
  const urls = [
    ...[good.replace("https:", "http:"), good.replace("https:", "HTTPS:"), good.replace("client.ex", "Client.ex")],
    ...[`https://${host}`, `https://${host}/`, `${good}#fragment`, `${good}#`, `${good}?query=1`, `${good}?`],
    ...[`https://ada@${host}${path}`, `https://ada:secret@${host}${path}`, `https://@${host}${path}`],
    ...[`https://${host}/./client.json`, `https://${host}/x/../client.json`, `https://${host}/x/%2e%2e/client.json`],
    ...[`https://${host}\\client.json`, `https:/${host}${path}`, `https:${host}${path}`, `${good} `],
    ...[`https://127.0.0.1:${world.publisher.port}${path}`, `https://[::1]${path}`, `https://2130706433${path}`],
    ...[`https://localhost${path}`, `https://intranet${path}`, `https://client.example.com.${path}`, "https://"],
    ...[`https://client.example.com:443${path}`, `https://${host}/${"x".repeat(512)}`, `https://ex\nample.com${path}`],
    ...[`https://apps.example.net${path}`, `https://an-app.apps.example.net${path}`],
  ];
  for (const url of urls) {
    const answer = await world.authorize(url);
    expect([url, answer.to, answer.body["error"]]).toEqual([url, "400", "invalid_client"]);
  }
  expect(world.publisher.asked).toHaveLength(before);
  const own = ["service.example.com"];
  for (const url of ["https://service.example.com/client.json", "https://service.example.com:8443/client.json"])
    expect(() => checkClientUrl(url, own)).toThrow("the URL must not be on a host of this service");
  expect(() => checkClientUrl("https://another-service.example.com/client.json", own)).not.toThrow();
});

test("a document that says what it must not is refused, without a word of what it says and without a trace", async () => {
  const site = world.publisher.site("refused");
  const invalid: Record<string, unknown>[] = [
    ...[{ client_id: site.url("/another.json") }, { client_id: undefined }, { client_id: [site.url("/0.json")] }],
    ...[{ client_secret: "secret" }, { client_secret_expires_at: 0 }, { skip_consent: true }, { user_id: "me" }],
    ...["client_secret_post", "client_secret_basic", "client_secret_jwt", "tls_client_auth", 1].map((method) => ({
      token_endpoint_auth_method: method,
    })),
    { token_endpoint_auth_method: "private_key_jwt" },
    { token_endpoint_auth_method: "private_key_jwt", jwks_uri: site.url("/keys.json") },
    { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } },
    ...[{ redirect_uris: undefined }, { redirect_uris: [] }, { redirect_uris: REDIRECT }, { redirect_uris: [1] }],
    ...["\0", "\ud800", "\n"].map((hidden) => ({ redirect_uris: [REDIRECT, `https://client.example.com/${hidden}`] })),
    { redirect_uris: Array.from({ length: 21 }, (_, at) => `https://client.example.com/${at}`) },
    ...[undefined, "", "  ", "x".repeat(101), 1, "Client\0", "Cli\nent", "\u202Etneilc", "Cli\u200Bent"].map(
      (name) => ({
        client_name: name,
      }),
    ),
    ...[{ grant_types: ["client_credentials"] }, { grant_types: "authorization_code" }, { response_types: ["token"] }],
    { backchannel_logout_uri: site.url("/logout"), backchannelLogoutUri: site.url("/logout") },
  ];
  for (const [at, members] of invalid.entries()) {
    const url = site.publish(`/${at}.json`, { marker: "a-marker", ...members });
    const answer = await world.authorize(url);
    expect([members, answer.to, answer.body["error"]]).toEqual([members, "400", "invalid_client"]);
    expect(answer.text).not.toMatch(/a-marker|another|c2VjcmV0|"secret"/);
    expect([members, await world.count("oauthClient", url)]).toEqual([members, 0]);
  }
  const logged = world.harness.logged();
  expect([logged.includes("an OAuth client was refused"), logged.includes("a-marker")]).toEqual([true, false]);
  expect(logged).not.toContain("the identity provider failed");
});

test("nobody is sent to a script, a file, a plain foreign address or one with credentials, whatever a document says", async () => {
  const site = world.publisher.site("redirecting");
  const redirects = [
    ...["javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "javascript.x:alert(1)//", "vbscript:x"],
    ...["data:text/html,x", "file:///etc/passwd", "blob:https://x/y", "about:blank", "", "//elsewhere.example.com"],
    ...["http://elsewhere.example.com/", "http://localhost.example.com/", "http://127.0.0.1@elsewhere.example.com/"],
    ...["https://user:password@elsewhere.example.com/", "https://elsewhere.example.com/#fragment", "custom:x"],
  ];
  for (const [at, uri] of redirects.entries()) {
    const url = site.publish(`/redirect-${at}.json`, { redirect_uris: [uri] });
    const answer = await world.authorize(url, { redirect_uri: uri });
    // One that no request may name does not get so far.
    expect([uri, ["400", "/api/auth/error"].includes(answer.to)]).toEqual([uri, true]);
    expect([uri, answer.text.includes(uri || 'redirect_uris: "')]).toEqual([uri, false]);
  }
});

test("a document that cannot be read, or not often enough, is said to be so, and left alone for a while", async () => {
  const gone = world.publisher.url("/gone.json");
  const from = somewhere();
  const first = await world.authorize(gone, {}, from);
  expect([first.status, first.body["error_description"]]).toEqual([
    ...[400, "The client's metadata document cannot be read: its host responded with status 404, not 200."],
  ]);
  world.publisher.publish("/gone.json");
  const again = await world.authorize(gone);
  expect([again.status, again.headers.get("retry-after"), again.body["error_description"]]).toEqual([
    ...[429, expect.stringMatching(/^([1-9]|10)$/), expect.stringMatching(/404.*Try again in \d+ seconds\.$/)],
  ]);
  expect(world.askedFor("/gone.json")).toBe(1);
  const sites = ["many", "more"].map((name) => world.publisher.site(name));
  const statuses: number[] = [];
  for (let at = 0; at < 60; at++) statuses.push((await world.authorize(sites[at % 2]!.url(`/${at}`), {}, from)).status);
  expect([new Set(statuses.slice(0, -1)), statuses.at(-1)]).toEqual([new Set([400]), 429]);
  expect((await world.authorize(sites[0]!.publish("/good.json"))).to).toBe("/consent");
});

test("a server that is asked about a client that it does not know asks nobody, wherever it is asked", async () => {
  const url = world.publisher.publish("/unknown.json");
  const code = { grant_type: "authorization_code", code: "x", code_verifier: "x".repeat(43), redirect_uri: REDIRECT };
  await world.oauth.requestToken({ ...code, client_id: url });
  await world.oauth.requestToken({ grant_type: "refresh_token", refresh_token: "x", client_id: url });
  await world.oauth.requestDeviceCode(url, `${world.publicUrl}/mcp`, "read");
  for (const path of ["public-client", "get-client", "end-session"])
    await world.person.get(`/oauth2/${path}?${new URLSearchParams({ client_id: url }).toString()}`);
  for (const path of ["revoke", "introspect"])
    await world.person.send("POST", `/api/auth/oauth2/${path}`, {
      body: new URLSearchParams({ token: "x", client_id: url }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", origin: world.publicUrl },
    });
  expect([world.askedFor("/unknown.json"), await world.count("oauthClient", url)]).toEqual([0, 0]);
});

test("where it is switched off, a client has to register, and nothing is read", async () => {
  await using off = await createHarness({
    clientMetadata: world.publisher.fetcher(),
    config: { clientMetadataDocuments: false },
  });
  const somebody = new TestUser(off.service.publicUrl);
  const { body } = await somebody.send("GET", "/.well-known/oauth-authorization-server");
  expect([body["client_id_metadata_document_supported"], body["issuer"]]).toEqual([undefined, off.service.publicUrl]);
  const requests = new OAuthRequests(off.service.publicUrl, somebody);
  const { pathname, search } = requests.authorizeUrl(world.publisher.publish("/off.json"), CHALLENGE);
  const answer = await somebody.send("GET", pathname + search);
  expect(new URL(String(answer.body["url"]), off.service.publicUrl).pathname).toBe("/api/auth/error");
  expect(world.askedFor("/off.json")).toBe(0);
});
