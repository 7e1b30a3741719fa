import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { lacksBrowser } from "../support/clients/browser.ts";
import {
  createOrganization,
  fillIn,
  openDashboard,
  readOrganizationId,
  readSecret,
  selectOrganization,
  signUpFirstUser,
} from "../support/clients/dashboard.ts";
import { RestClient } from "../support/clients/rest-client.ts";

/** Creates an API key in the page of tokens, and returns the names of the API keys that this key can list. */
async function namesBesideNewKey(page: Page, publicUrl: string, name: string): Promise<string[]> {
  const panel = page.getByRole("region", { name: "API keys", exact: true });
  await panel.getByLabel("Name", { exact: true }).fill(name);
  await panel.getByRole("button", { name: "Create API key" }).click();
  const { body } = await new RestClient(publicUrl, await readSecret(page)).get("/v1/tokens");
  const tokens = body["tokens"] as { kind: string; name: string }[];
  return tokens.filter(({ kind }) => kind === "api_key").map((token) => token.name);
}

test.skipIf(lacksBrowser)(
  "a page acts in the organization of its URL while another tab selects another organization",
  async () => {
    await using setup = await openDashboard();
    const page = await signUpFirstUser(setup);
    const first = readOrganizationId(page);
    const acme = await createOrganization(page, "Acme");
    await page.getByRole("link", { name: "Tokens" }).click();
    await page.getByRole("button", { name: "Create API key" }).waitFor();

    const otherTab = await page.context().newPage();
    await otherTab.goto(`${setup.publicUrl}/settings/tokens?org=${acme}`);
    await selectOrganization(otherTab, first);
    expect(readOrganizationId(otherTab)).toBe(first);
    expect(await namesBesideNewKey(otherTab, setup.publicUrl, "of the first")).toContain("of the first");

    expect(await namesBesideNewKey(page, setup.publicUrl, "of Acme")).toEqual(["of Acme"]);
    await page.getByRole("link", { name: "Members" }).click();
    await fillIn(page, { Email: "bob@example.com" });
    await page.getByRole("button", { name: "Invite" }).click();
    await readSecret(page);
    await otherTab.getByRole("link", { name: "Members" }).click();
    await otherTab.getByRole("cell", { name: "ada@example.com" }).waitFor();
    await otherTab.getByRole("heading", { name: "Invitations" }).waitFor();
    expect(await otherTab.getByRole("cell", { name: "bob@example.com" }).count()).toBe(0);
    expect(setup.browser.problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("selecting another organization discards the secret that the page shows", async () => {
  await using setup = await openDashboard();
  const page = await signUpFirstUser(setup);
  const first = readOrganizationId(page);
  await createOrganization(page, "Acme");
  await page.getByRole("link", { name: "Tokens" }).click();
  expect(await namesBesideNewKey(page, setup.publicUrl, "of Acme")).toEqual(["of Acme"]);
  await selectOrganization(page, first);
  await page.getByRole("cell", { name: "of Acme" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create API key" }).waitFor();
  expect(await page.getByTestId("secret").count()).toBe(0);
  await page.goto(`${setup.publicUrl}/?org=${crypto.randomUUID()}`);
  await page.getByText("You are not a member of the organization of this page.").waitFor();
  await selectOrganization(page, first);
  await page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
  expect(setup.browser.problems).toEqual([]);
});

test.skipIf(lacksBrowser)("while another organization loads, nobody can act in the previous one", async () => {
  await using setup = await openDashboard();
  const page = await signUpFirstUser(setup);
  const first = readOrganizationId(page);
  const acme = await createOrganization(page, "Acme");
  await page.goto(`${setup.publicUrl}/settings/tokens?org=${acme}`);
  const create = page.getByRole("button", { name: "Create API key" });
  await create.waitFor();
  const roleOfFirst = Promise.withResolvers<void>();
  await page.route(`**/get-active-member-role?organizationId=${first}`, async (route) => {
    await roleOfFirst.promise;
    await route.continue();
  });
  await selectOrganization(page, first);
  expect(await create.count()).toBe(0);
  roleOfFirst.resolve();
  await create.waitFor();
  expect(setup.browser.problems).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "a document is added to the organization of its page while another tab selects another organization",
  async () => {
    await using setup = await openDashboard();
    const page = await signUpFirstUser(setup);
    const first = readOrganizationId(page);
    const acme = await createOrganization(page, "Acme");
    await page.goto(`${setup.publicUrl}/knowledge?org=${acme}`);
    await page.getByText("Write a document", { exact: true }).click();
    const write = page.getByRole("form", { name: "Write a document" });
    await write.getByLabel("Title").fill("Parking");
    await write.getByLabel("Text as Markdown").fill("Park behind the house.");
    // What another tab does just before this one gets its access token.
    let selections = 0;
    await page.route("**/api/auth/token", async (route) => {
      if (selections++ === 0)
        await page.request.post(`${setup.publicUrl}/api/auth/organization/set-active`, {
          data: { organizationId: first },
          headers: { origin: setup.publicUrl },
        });
      await route.continue();
    });
    await write.getByRole("button", { name: "Add document" }).click();
    const { db } = setup.harness.service.parts;
    await expect
      .poll(() => db.selectFrom("documents").select(["title", "org_id"]).execute())
      .toEqual([{ title: "Parking", org_id: acme }]);
    await page.getByRole("link", { name: "Parking" }).waitFor();
    expect(setup.browser.problems).toEqual([]);
  },
);
