import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { auth as authV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, openBrowser, type TestBrowser } from "../support/clients/browser.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { signInAndListTools } from "../support/clients/sdk-clients.ts";
import { type ClientPublisher, openClientPublisher } from "../support/identity/client-publisher.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";

interface Setup extends AsyncDisposable {
  browser: TestBrowser;
  /** Receives the redirect to the client. */
  receiver: RedirectReceiver;
  publisher: ClientPublisher;
  publicUrl: string;
  user: TestUser;
}

async function openSetup(): Promise<Setup> {
  await using stack = new AsyncDisposableStack();
  const browser = stack.use(await openBrowser());
  const receiver = stack.use(await openRedirectReceiver());
  const publisher = stack.use(await openClientPublisher());
  const harness = stack.use(await createHarness({ clientMetadata: publisher.createFetcher() }));
  const { publicUrl } = harness.service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const opened = stack.move();
  return { browser, receiver, publisher, publicUrl, user, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function signIn(page: Page, { user }: Setup): Promise<void> {
  await page.getByLabel("Email").fill(user.email);
  await page.getByLabel("Password").fill(user.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/**
 * Opens an authorization URL, signs in and decides on the consent page. Returns the parameters of the redirect to the client.
 *
 * @param publisherHost - the host that the page must show; `null` for a registered client
 */
function decideInBrowser(
  page: Page,
  setup: Setup,
  { button, publisherHost }: { button: "Allow" | "Deny"; publisherHost: string | null },
) {
  return async (url: URL): Promise<URLSearchParams> => {
    await page.goto(url.href);
    await page.getByRole("heading", { name: /Sign in|Allow access/ }).waitFor();
    if (page.url().includes("/sign-in")) {
      await signIn(page, setup);
      await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    }
    await page.getByText("An MCP client").waitFor();
    const hosts = await page.getByTestId("client-host").allTextContents();
    expect(hosts).toEqual(publisherHost === null ? [] : [publisherHost]);
    await page.getByText(new URL(setup.receiver.url).host, { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: button }).click();
    return setup.receiver.next();
  };
}

for (const sdkVersion of [1, 2] as const)
  test.skipIf(lacksBrowser)(
    `the v${sdkVersion} SDK connects with only the gateway's URL: the user signs in and consents in a browser`,
    async () => {
      await using setup = await openSetup();
      const { browser, receiver, publisher, publicUrl } = setup;
      // The v1 client registers, and the v2 client publishes a metadata document.
      const isPublished = sdkVersion === 2;
      const members = { client_name: "An MCP client", redirect_uris: [receiver.url] };
      const clientUrl = isPublished ? publisher.publish("/client.json", members) : undefined;
      const publisherHost = isPublished ? `client.example.com:${publisher.port}` : null;
      const page = await browser.open();
      const authorize = decideInBrowser(page, setup, { button: "Allow", publisherHost });
      const client = new TestOAuthClient(authorize, receiver.url, clientUrl);
      expect(await signInAndListTools(`${publicUrl}/mcp`, client, sdkVersion)).toContain("service_execute");
      expect(await authV1(client as never, { serverUrl: `${publicUrl}/mcp` })).toBe("AUTHORIZED");
      expect(client.tokenResponses).toHaveLength(2);
      const gateway = new GatewayClient(publicUrl, client.tokenResponses[1]?.access_token ?? "");
      expect((await gateway.tool("service_list_apps")).isError).toBe(false);
      expect(browser.problems).toEqual([]);
    },
  );

test.skipIf(lacksBrowser)("a client that the user denies gets the error access_denied and no token", async () => {
  await using setup = await openSetup();
  const { browser, receiver, publicUrl } = setup;
  const page = await browser.open({ colorScheme: "dark" });
  const redirects: URLSearchParams[] = [];
  const deny = decideInBrowser(page, setup, { button: "Deny", publisherHost: null });
  const client = new TestOAuthClient(async (url) => {
    const redirect = await deny(url);
    redirects.push(redirect);
    return redirect;
  }, receiver.url);
  await expect(signInAndListTools(`${publicUrl}/mcp`, client, 1)).rejects.toThrow(/code/i);
  expect([redirects[0]?.get("error"), redirects[0]?.get("code")]).toEqual(["access_denied", null]);
  expect(client.tokenResponses).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "the consent page names the account and the permissions, and the client acts in the organization that the user chooses",
  async () => {
    await using setup = await openSetup();
    const { browser, receiver, publicUrl, user } = setup;
    const { body } = await user.post("/organization/create", { name: "Second organization", slug: randomUUID() });
    const page = await browser.open();
    const client = new TestOAuthClient(async (url) => {
      await page.goto(url.href);
      await signIn(page, setup);
      await page.getByText("You are signed in as Ada").waitFor();
      await page.getByText(user.email, { exact: true }).waitFor();
      await page.getByText("Call every procedure of apps, also procedures that change or delete data").waitFor();
      await page.getByText("Stay connected until you revoke access").waitFor();
      await expectAccessible(page);
      await page.getByLabel("Organization").selectOption("Second organization");
      await page.getByRole("button", { name: "Allow" }).click();
      return receiver.next();
    }, receiver.url);
    await signInAndListTools(`${publicUrl}/mcp`, client, 2);
    const [, claims = ""] = (client.tokenResponses[0]?.access_token ?? "").split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({ org_id: body["id"] });
    expect(browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "the consent page says that the browser will open a program on the device, and names its scheme",
  async () => {
    await using setup = await openSetup();
    const { browser, publicUrl, user } = setup;
    const redirectUri = "example-editor://connect/callback";
    const oauth = new OAuthRequests(publicUrl, user);
    const clientId = await oauth.register({ client_name: "An MCP client", redirect_uris: [redirectUri] });
    const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
    const page = await browser.open();
    await page.goto(oauth.authorizeUrl(clientId, { redirect_uri: redirectUri, scope: "read", ...challenge }).href);
    await signIn(page, setup);
    await page
      .getByText(/Your browser will open the program on this device that handles example-editor: links/)
      .waitFor();
    await expectAccessible(page);
    expect(browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "a user who has signed in meanwhile continues with the request instead of seeing the sign-in form again",
  async () => {
    await using setup = await openSetup();
    const { browser, receiver, publicUrl, user } = setup;
    const oauth = new OAuthRequests(publicUrl, user);
    const clientId = await oauth.register({ redirect_uris: [receiver.url] });
    const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
    const request = oauth.authorizeUrl(clientId, { redirect_uri: receiver.url, scope: "read", ...challenge });
    const page = await browser.open();
    await page.goto(request.href);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    const signInUrl = page.url();
    const otherTab = await page.context().newPage();
    await otherTab.goto(`${publicUrl}/sign-in`);
    await signIn(otherTab, setup);
    await otherTab.getByRole("heading", { name: "Overview", exact: true }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    // An expired request says so, instead of failing again and again.
    const expired = new URL(signInUrl.replace("/sign-in", "/consent"));
    expired.searchParams.set("exp", "1");
    await page.goto(expired.href);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("The request of the client has expired. Start again in the client.").waitFor();
    expect(browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a device is signed in when the user confirms its code in a browser", async () => {
  await using setup = await openSetup();
  const { browser, publicUrl, user } = setup;
  const oauth = new OAuthRequests(publicUrl, user);
  const resource = `${publicUrl}/v1`;
  const clientId = await oauth.registerDeviceClient();
  const { body } = await oauth.requestDeviceCode(clientId, resource, "read offline_access");
  const page = await browser.open();
  await page.goto(String(body["verification_uri_complete"]));
  await signIn(page, setup);
  await page.getByRole("button", { name: "Sign in device" }).waitFor();
  expect(await page.getByLabel("Code").inputValue()).toBe(body["user_code"]);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Sign in device" }).click();
  await page.getByText("The device is signed in.").waitFor();
  await expectAccessible(page);
  const { body: granted } = await oauth.requestDeviceToken(clientId, String(body["device_code"]), resource);
  const rest = new RestClient(publicUrl, String(granted["access_token"]));
  expect((await rest.get("/v1/apps")).status).toBe(200);
  expect(browser.problems).toEqual([]);
});

/** The redirect endpoint of an OAuth client on this machine. */
interface RedirectReceiver extends AsyncDisposable {
  url: string;
  /** Waits for the next redirect and returns its query parameters. */
  next(): Promise<URLSearchParams>;
}

async function openRedirectReceiver(): Promise<RedirectReceiver> {
  let arrived = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://client");
    response.setHeader("content-type", "text/html").end("<title>Client</title><p>You can close this page.</p>");
    if (pathname === "/callback") arrived.resolve(searchParams);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async next() {
      const found = await arrived.promise;
      arrived = Promise.withResolvers();
      return found;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
