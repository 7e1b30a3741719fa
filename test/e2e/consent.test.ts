import { auth as auth1 } from "@modelcontextprotocol/sdk/client/auth.js";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, openBrowser } from "../support/clients/browser.ts";
import { openClientPublisher } from "../support/identity/client-publisher.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { createHarness } from "../support/service/harness.ts";
import { type Loopback, openLoopback } from "../support/service/loopback.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { toolsThrough } from "../support/clients/sdk-clients.ts";

/** Signs in and answers on the consent page, in a real browser. `host` is where the client has published itself. */
function inBrowser(
  page: Page,
  person: TestUser,
  loopback: Loopback,
  answer: "Allow" | "Deny",
  host: string | null = null,
) {
  return async (url: URL): Promise<URLSearchParams> => {
    await page.goto(url.href);
    await page.getByRole("heading", { name: /Sign in|Allow access/ }).waitFor();
    if (page.url().includes("/sign-in")) {
      await page.getByLabel("Email").fill(person.email);
      await page.getByLabel("Password").fill(person.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    }
    await page.getByText("An MCP client").waitFor();
    expect(await page.getByTestId("client-host").allTextContents()).toEqual(host === null ? [] : [host]);
    await page.getByText(new URL(loopback.url).host, { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: answer }).click();
    return loopback.next();
  };
}

for (const generation of [1, 2] as const)
  test.skipIf(lacksBrowser)(
    `the v${generation} SDK's client connects from the gateway's URL alone: sign-in, consent, tools, refresh`,
    { timeout: 120_000 },
    async () => {
      await using browser = await openBrowser();
      await using loopback = await openLoopback();
      // One registers, the other has published what it is.
      await using publisher = await openClientPublisher();
      await using harness = await createHarness({ clientMetadata: publisher.createFetcher() });
      const ownUrl = publisher.publish("/client.json", { client_name: "An MCP client", redirect_uris: [loopback.url] });
      const { publicUrl } = harness.service;
      const person = new TestUser(publicUrl);
      await person.signUp();
      const page = await browser.open();
      const host = generation === 2 ? `client.example.com:${publisher.port}` : null;
      const agree = inBrowser(page, person, loopback, "Allow", host);
      const signingIn = new TestOAuthClient(agree, loopback.url, host === null ? undefined : ownUrl);
      expect(await toolsThrough(`${publicUrl}/mcp`, signingIn, generation)).toContain("service_execute");
      expect(await auth1(signingIn as never, { serverUrl: `${publicUrl}/mcp` })).toBe("AUTHORIZED");
      expect(signingIn.tokenResponses).toHaveLength(2);
      const gateway = new GatewayClient(publicUrl, signingIn.tokenResponses[1]?.access_token ?? "");
      expect((await gateway.tool("service_list_apps")).isError).toBe(false);
      expect(browser.problems).toEqual([]);
    },
  );

test.skipIf(lacksBrowser)("a client that is denied gets nothing but the refusal", { timeout: 120_000 }, async () => {
  await using harness = await createHarness();
  await using browser = await openBrowser();
  await using loopback = await openLoopback();
  const { publicUrl } = harness.service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const page = await browser.open({ colorScheme: "dark" });
  const answers: URLSearchParams[] = [];
  const deny = inBrowser(page, person, loopback, "Deny");
  const signingIn = new TestOAuthClient(async (url) => {
    answers.push(await deny(url));
    return answers[0] ?? new URLSearchParams();
  }, loopback.url);
  await expect(toolsThrough(`${publicUrl}/mcp`, signingIn, 1)).rejects.toThrow(/code/i);
  expect([answers[0]?.get("error"), answers[0]?.get("code")]).toEqual(["access_denied", null]);
  expect(signingIn.tokenResponses).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "a device is signed in by the code that a person confirms in a browser",
  { timeout: 120_000 },
  async () => {
    await using harness = await createHarness();
    await using browser = await openBrowser();
    const { publicUrl } = harness.service;
    const person = new TestUser(publicUrl);
    await person.signUp();
    const oauth = new OAuthRequests(publicUrl, person);
    const resource = `${publicUrl}/v1`;
    const clientId = await oauth.registerDeviceClient();
    const { body } = await oauth.requestDeviceCode(clientId, resource, "read offline_access");
    const page = await browser.open();
    await page.goto(String(body["verification_uri_complete"]));
    await page.getByLabel("Email").fill(person.email);
    await page.getByLabel("Password").fill(person.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign in the device" }).waitFor();
    expect(await page.getByLabel("Code").inputValue()).toBe(body["user_code"]);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in the device" }).click();
    await page.getByText("The device is signed in.").waitFor();
    await expectAccessible(page);
    const { body: granted } = await oauth.requestDeviceToken(clientId, String(body["device_code"]), resource);
    const rest = new RestClient(publicUrl, String(granted["access_token"]));
    expect((await rest.get("/v1/apps")).status).toBe(200);
    expect(browser.problems).toEqual([]);
  },
);
