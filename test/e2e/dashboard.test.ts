import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, openBrowser, type TestBrowser } from "../support/clients/browser.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { RestClient } from "../support/clients/rest-client.ts";

const PASSWORD = "correct horse battery";

interface Stage {
  browser: TestBrowser;
  harness: Harness;
  publicUrl: string;
}

async function openStage(): Promise<Stage & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const harness = stack.use(await createHarness());
  const browser = stack.use(await openBrowser());
  const opened = stack.move();
  const { publicUrl } = harness.service;
  return { browser, harness, publicUrl, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const LONG = { timeout: 120_000 };

async function fillIn(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
}

/** The first person of the installation, signed up and at the start page. */
async function firstPerson({ browser, publicUrl }: Stage): Promise<Page> {
  const page = await browser.open();
  await page.goto(publicUrl);
  await page.getByRole("heading", { name: "Set up this service" }).waitFor();
  await expectAccessible(page);
  await fillIn(page, { Name: "Ada", Email: "ada@example.com", Password: PASSWORD });
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { name: "Apps", exact: true }).waitFor();
  return page;
}

/** What a page shows this one time. */
async function secretOn(page: Page): Promise<string> {
  return page.getByTestId("secret").innerText();
}

async function makeToken(page: Page, kind: string, name: string): Promise<string> {
  await page.reload();
  const panel = page.getByRole("region", { name: kind, exact: true });
  await panel.getByLabel("Name", { exact: true }).fill(name);
  await panel.getByRole("button", { name: /^Create/ }).click();
  return secretOn(page);
}

test.skipIf(lacksBrowser)(
  "a person signs up, founds an organization, and makes tokens that work, until they are revoked",
  LONG,
  async () => {
    await using stage = await openStage();
    const page = await firstPerson(stage);
    await page.getByRole("link", { name: "Account" }).click();
    await fillIn(page, { "Name of the organization": "Acme" });
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("combobox", { name: "Organization" }).waitFor();
    await page.getByRole("link", { name: "Tokens" }).click();
    const rest = new RestClient(stage.publicUrl, await makeToken(page, "API keys", "from a browser"));
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
    const token = await makeToken(page, "Personal access tokens", "my agent");
    const gateway = new GatewayClient(stage.publicUrl, token);
    const { structuredContent } = await gateway.tool("service_list_apps");
    expect(structuredContent["apps"]).toHaveLength(1);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Revoke from a browser" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke from a browser" }).waitFor({ state: "detached" });
    expect((await rest.get("/v1/apps")).status).toBe(401);
    expect(stage.browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "a second person is invited, joins, sees the apps, is removed, and is refused from then on",
  LONG,
  async () => {
    await using stage = await openStage();
    const owner = await firstPerson(stage);
    const rest = new RestClient(stage.publicUrl, stage.harness.service.bootstrapped!.api_key);
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
    await owner.getByRole("link", { name: "Members" }).click();
    await fillIn(owner, { Email: "bob@example.com" });
    await owner.getByRole("button", { name: "Invite" }).click();
    const link = await secretOn(owner);
    await expectAccessible(owner);

    const guest = await stage.browser.open({ colorScheme: "dark" });
    await guest.goto(link);
    await guest.getByRole("link", { name: "Sign up" }).click();
    await fillIn(guest, { Name: "Bob", Email: "bob@example.com", Password: PASSWORD });
    await expectAccessible(guest);
    await guest.getByRole("button", { name: "Sign up" }).click();
    await guest.getByRole("button", { name: "Accept" }).waitFor();
    await expectAccessible(guest);
    await guest.getByRole("button", { name: "Accept" }).click();
    await guest.getByRole("cell", { name: "site", exact: true }).waitFor();
    await expectAccessible(guest);
    await guest.getByRole("link", { name: "Tokens" }).click();
    const gateway = new GatewayClient(stage.publicUrl, await makeToken(guest, "Personal access tokens", "Bob's agent"));
    expect((await gateway.call("tools/list")).status).toBe(200);

    await owner.reload();
    await owner.getByRole("button", { name: "Remove Bob" }).click();
    await expectAccessible(owner);
    await owner.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await owner.getByRole("button", { name: "Remove Bob" }).waitFor({ state: "detached" });
    expect((await gateway.call("tools/list")).status).toBe(401);
    await guest.goto(stage.publicUrl);
    await guest.getByText("You belong to no organization yet.").waitFor();
    await owner.getByRole("link", { name: "Audit log" }).click();
    await owner.getByRole("cell", { name: "organization/remove-member" }).waitFor();
    await expectAccessible(owner);
    expect(stage.browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "whoever is signed out is asked to sign in, told when the password is wrong, and led back",
  LONG,
  async () => {
    await using stage = await openStage();
    const page = await firstPerson(stage);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto(`${stage.publicUrl}/nowhere`);
    await page.getByRole("heading", { name: "No such page" }).waitFor();
    await expectAccessible(page);
    await page.goto(`${stage.publicUrl}/sign-in?error=access_denied&error_description=Call+us`);
    expect(await page.getByRole("alert").innerText()).toMatch(/^You did not agree at the provider/);
    await expectAccessible(page);
    await page.goto(`${stage.publicUrl}/settings/members`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expectAccessible(page);
    await fillIn(page, { Email: "ada@example.com", Password: "not the password" });
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await expectAccessible(page);
    await fillIn(page, { Password: PASSWORD });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Members" }).first().waitFor();
    for (const elsewhere of [
      "https://elsewhere.invalid/",
      "//elsewhere.invalid/",
      "/.//elsewhere.invalid/",
      "http://[",
    ]) {
      await page.goto(`${stage.publicUrl}/sign-in?${new URLSearchParams({ next: elsewhere }).toString()}`);
      await fillIn(page, { Email: "ada@example.com", Password: PASSWORD });
      await page.keyboard.press("Enter");
      await page.waitForURL(`${stage.publicUrl}/`);
    }
    expect(stage.browser.problems).toEqual([]);
  },
);
