import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { fillIn, openAs, readSecret } from "../support/clients/dashboard.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

/** Opens a page in the organization of this file. Every later response with an error status is added to `failures`. */
async function openPage(user: TestUser, path: string, failures: string[] = []): Promise<Page> {
  const { url, organizationId } = organization();
  const page = await openAs(browser(), user, `${url}${path}?org=${organizationId}`);
  page.on("response", (response) => {
    if (response.status() >= 400) failures.push(`${response.status()} ${response.url()}`);
  });
  return page;
}

/** Waits for a text, and returns the names of all controls in the content of the page. */
async function controlsBeside(page: Page, text: string): Promise<string[]> {
  await page.getByText(text).waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  const snapshot = await page.getByRole("main").ariaSnapshot();
  return [...snapshot.matchAll(/- (?:button|combobox|textbox) "(.*?)"/g)].map(([, name = ""]) => name);
}

const TOKEN_FORM = ["Name", "Permissions", "Expiry"];

test.skipIf(lacksBrowser)(
  "a member sees only controls that work, and reads which role the others require",
  async () => {
    const { member } = organization();
    const failures: string[] = [];
    const page = await openPage(member, "/settings/account", failures);
    await page.getByText(member.email).first().waitFor();
    expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents()).toEqual([
      ...["Overview", "Apps", "Agents", "Skills", "Knowledge", "Projects", "Usage", "Connect"],
      ...["Tokens", "Git connections", "Members", "Organization", "Account"],
    ]);
    await page.getByRole("link", { name: "Members", exact: true }).click();
    const hint = "Role admin or owner required to change roles and remove members. Your role is member.";
    expect(await controlsBeside(page, hint)).toEqual(["Leave"]);
    await page.getByText("Role admin or owner required to invite users. Your role is member.").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Tokens", exact: true }).click();
    const createToken = [...TOKEN_FORM, "Create personal access token"];
    expect(await controlsBeside(page, "Role admin or owner required to see, create and revoke API keys.")).toEqual(
      createToken,
    );
    await fillIn(page, { Name: "my agent" });
    await page.getByRole("button", { name: "Create personal access token" }).click();
    expect(await readSecret(page)).toMatch(/^svp_/);
    await page.goto(page.url().replace("/settings/tokens", "/settings/audit"));
    expect(await controlsBeside(page, "Role owner required to see this page. Your role is member.")).toEqual([]);
    await expectAccessible(page);
    expect([failures, browser().problems]).toEqual([[], []]);
  },
);

test.skipIf(lacksBrowser)(
  "an admin manages members, invitations and API keys, and sees no control for owners",
  async () => {
    const { admin } = organization();
    const failures: string[] = [];
    const page = await openPage(admin, "/settings/members", failures);
    const rows = ["Role of Ada", "Leave", "Role of Ada", "Remove Ada"];
    const hint = "Role owner required to change or remove owners. Your role is admin.";
    expect(await controlsBeside(page, hint)).toEqual([...rows, "Email", "Role", "Invite"]);
    for (const select of await page.getByRole("combobox", { name: /^Role/ }).all())
      expect(await select.getByRole("option").allTextContents()).toEqual(["member", "admin"]);
    const member = page.getByRole("row").filter({ hasText: organization().member.email }).getByRole("combobox");
    for (const role of ["admin", "member"]) {
      const changed = page.waitForResponse((response) => response.url().endsWith("/update-member-role"));
      await member.selectOption(role);
      await changed;
      await page.reload();
      await member.locator("option:checked", { hasText: role }).waitFor({ state: "attached" });
    }
    await fillIn(page, { Email: "carol@example.com" });
    await page.getByRole("button", { name: "Invite" }).click();
    await readSecret(page);
    await page.getByRole("button", { name: "Cancel invitation for carol@example.com" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel invitation" }).click();
    await page.getByText("No pending invitations.").waitFor();
    await page.getByRole("link", { name: "Tokens", exact: true }).click();
    await page.getByText("No API keys yet.").waitFor();
    await page.getByRole("region", { name: "API keys" }).getByLabel("Name", { exact: true }).fill("CI");
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.getByRole("button", { name: "Revoke CI" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No API keys yet.").waitFor();
    expect([failures, browser().problems]).toEqual([[], []]);
  },
);

test.skipIf(lacksBrowser)(
  "the only owner has no control for their own membership until another member is an owner",
  async () => {
    const { owner, url, join } = organization();
    const failures: string[] = [];
    const page = await openPage(owner, "/settings/members", failures);
    const otherRows = ["Role of Ada", "Remove Ada", "Role of Ada", "Remove Ada"];
    const form = ["Email", "Role", "Invite"];
    expect(await controlsBeside(page, "You are the only owner.")).toEqual([...otherRows, ...form]);

    const second = new TestUser(url);
    await second.signUp();
    await join(second, "owner");
    const other = await openPage(second, "/settings/members", failures);
    await other.getByRole("row").filter({ hasText: second.email }).getByRole("combobox").selectOption("member");
    // The controls and the navigation follow the new role at once.
    expect(await controlsBeside(other, "Role admin or owner required to invite users.")).toEqual(["Leave"]);
    expect(await other.getByRole("link", { name: "Audit log" }).count()).toBe(0);
    await other.getByRole("button", { name: "Leave" }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
    await other.getByText("You are not a member of any organization.").waitFor();
    expect([failures, browser().problems]).toEqual([[], []]);
  },
);
