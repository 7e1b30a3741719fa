import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser } from "../support/clients/browser.ts";
import {
  createOrganization,
  fillIn,
  openDashboard,
  PASSWORD,
  readSecret,
  signOut,
  signUpFirstUser,
} from "../support/clients/dashboard.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { verifies } from "../support/verifies.ts";

/** Creates a token in a panel of the page of tokens and returns it. */
async function createToken(page: Page, panelTitle: string, name: string): Promise<string> {
  await page.reload();
  const panel = page.getByRole("region", { name: panelTitle, exact: true });
  await panel.getByLabel("Name", { exact: true }).fill(name);
  await panel.getByRole("button", { name: /^Create/ }).click();
  return readSecret(page);
}

verifies(
  ["gateway.auth.personal_access_token.issued", "rest.auth.api_key.issued"],
  "a user signs up, creates an organization, creates tokens that work, and revokes one",
  async () => {
    await using setup = await openDashboard();
    const page = await signUpFirstUser(setup);
    await createOrganization(page, "Acme");
    await page.getByRole("link", { name: "Tokens" }).click();
    const rest = new RestClient(setup.publicUrl, await createToken(page, "API keys", "from a browser"));
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
    const token = await createToken(page, "Personal access tokens", "my agent");
    const gateway = new GatewayClient(setup.publicUrl, token);
    const { structuredContent } = await gateway.tool("service_list_apps");
    expect(structuredContent["apps"]).toHaveLength(1);
    const extension = page.getByRole("link", { name: "download the extension" });
    expect(await extension.getAttribute("href")).toBe("/downloads/service.mcpb");
    await page.getByRole("columnheader", { name: "Permissions" }).first().waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Revoke from a browser" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke from a browser" }).waitFor({ state: "detached" });
    expect((await rest.get("/v1/apps")).status).toBe(401);
    expect(setup.browser.problems).toEqual([]);
  },
  { skip: lacksBrowser },
);

test.skipIf(lacksBrowser)(
  "an invited user joins, sees the apps, and loses access when the owner removes them",
  async () => {
    await using setup = await openDashboard();
    const owner = await signUpFirstUser(setup);
    await owner.getByRole("link", { name: "Tokens" }).click();
    const rest = new RestClient(setup.publicUrl, await createToken(owner, "API keys", "CI"));
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
    await owner.getByRole("link", { name: "Members" }).click();
    await fillIn(owner, { Email: "bob@example.com" });
    await owner.getByRole("button", { name: "Invite" }).click();
    const link = await readSecret(owner);
    await expectAccessible(owner);
    await owner.reload();
    await owner.getByRole("button", { name: "Show link for bob@example.com" }).click();
    expect(await readSecret(owner)).toBe(link);

    const invited = await setup.browser.open({ colorScheme: "dark" });
    await invited.goto(link);
    await invited.getByRole("link", { name: "Sign up" }).click();
    await fillIn(invited, { Name: "Bob", Email: "bob@example.com", Password: PASSWORD });
    await expectAccessible(invited);
    await invited.getByRole("button", { name: "Sign up" }).click();
    await invited.getByRole("button", { name: "Accept" }).waitFor();
    await expectAccessible(invited);
    await invited.getByRole("button", { name: "Accept" }).click();
    await invited.getByRole("link", { name: "site", exact: true }).waitFor();
    await expectAccessible(invited);
    await invited.getByRole("link", { name: "Tokens" }).click();
    const token = await createToken(invited, "Personal access tokens", "Bob's agent");
    const gateway = new GatewayClient(setup.publicUrl, token);
    expect((await gateway.call("tools/list")).status).toBe(200);

    await owner.reload();
    await owner.getByRole("button", { name: "Remove Bob" }).click();
    await expectAccessible(owner);
    await owner.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await owner.getByRole("button", { name: "Remove Bob" }).waitFor({ state: "detached" });
    expect((await gateway.call("tools/list")).status).toBe(401);
    await invited.goto(setup.publicUrl);
    await invited.getByText("You are not a member of any organization.").waitFor();
    await owner.getByRole("link", { name: "Audit log" }).click();
    await owner.getByRole("cell", { name: "organization/remove-member" }).waitFor();
    await expectAccessible(owner);
    expect(setup.browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "a signed-out user is sent to sign in, sees an error for a wrong password, and returns only to pages of this site",
  async () => {
    await using setup = await openDashboard();
    const page = await signUpFirstUser(setup);
    await signOut(page, "Ada");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto(`${setup.publicUrl}/nowhere`);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await expectAccessible(page);
    await page.goto(`${setup.publicUrl}/sign-up`);
    await page.getByText("You need an invitation to sign up.").waitFor();
    expect(await page.getByRole("button").count()).toBe(0);
    await page.goto(`${setup.publicUrl}/sign-in?error=access_denied&error_description=Call+us`);
    expect(await page.getByRole("alert").innerText()).toMatch(/^You declined access at the provider/);
    await expectAccessible(page);
    await page.goto(`${setup.publicUrl}/settings/members`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expectAccessible(page);
    await fillIn(page, { Email: "ada@example.com", Password: "not the password" });
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await expectAccessible(page);
    await fillIn(page, { Password: PASSWORD });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Members" }).first().waitFor();
    const otherSites = ["https://elsewhere.invalid/", "//elsewhere.invalid/", "/.//elsewhere.invalid/", "http://["];
    for (const next of otherSites) {
      await page.goto(`${setup.publicUrl}/sign-in?${new URLSearchParams({ next }).toString()}`);
      await fillIn(page, { Email: "ada@example.com", Password: PASSWORD });
      await page.keyboard.press("Enter");
      await page.waitForURL(({ origin, pathname }) => origin === setup.publicUrl && pathname === "/");
    }
    expect(setup.browser.problems).toEqual([]);
  },
);
