import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

function openPage(path: string): Promise<Page> {
  const { url, owner, organizationId } = organization();
  return openAs(browser(), owner, `${url}${path}?org=${organizationId}`);
}

/** Creates an API key for each name. */
async function issueApiKeys(names: string[]): Promise<void> {
  const { url, owner, organizationId } = organization();
  const rpc = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
  for (const name of names) await rpc.tokens.issue.mutate({ kind: "api_key", name, scope: "read" });
}

/** Chooses a button with the keyboard, and confirms the question that it asks. */
async function pressAndConfirm(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole("button", { name }).press("Enter");
  await page.getByRole("dialog").getByRole("button").last().press("Enter");
}

/** Waits until a button no longer exists, and returns the name of the element that has the focus. */
async function focusAfterRemoval(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name }).waitFor({ state: "detached" });
  return focusedName(page);
}

/** The name of the element that has the focus; that of the whole page when no element has it. */
function focusedName(page: Page): Promise<string> {
  return page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent");
}

test.skipIf(lacksBrowser)(
  "the focus moves to the next row after a token is revoked, then to the previous one, then to the heading",
  async () => {
    await issueApiKeys(["first", "second", "third"]);
    const page = await openPage("/settings/tokens");
    // The newest token is in the first row.
    const rows = [
      ["Revoke second", "Revoke first"],
      ["Revoke first", "Revoke third"],
      ["Revoke third", "API keys"],
    ] as const;
    for (const [removed, focused] of rows) {
      await pressAndConfirm(page, removed);
      expect(await focusAfterRemoval(page, removed)).toBe(focused);
    }
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "the focus stays in the table after a member is removed, and moves to the heading after the last invitation is canceled",
  async () => {
    const { owner, member, invite } = organization();
    const email = randomEmail();
    await invite(owner, email, "member");
    const page = await openPage("/settings/members");
    await pressAndConfirm(page, `Cancel invitation for ${email}`);
    expect(await focusAfterRemoval(page, `Cancel invitation for ${email}`)).toBe("Invitations");
    const row = page.getByRole("row").filter({ hasText: member.email });
    await row.getByRole("button", { name: "Remove Ada" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).press("Enter");
    await row.waitFor({ state: "detached" });
    expect(await focusedName(page)).toBe("Remove Ada");
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the focus stays on a button whose action fails", async () => {
  await issueApiKeys(["kept"]);
  const page = await openPage("/settings/tokens");
  await page.route("**/trpc/tokens.revoke*", (route) => route.fulfill({ status: 500 }));
  await pressAndConfirm(page, "Revoke kept");
  await page.getByRole("alert").waitFor();
  expect(await focusedName(page)).toBe("Revoke kept");
});

test.skipIf(lacksBrowser)("the focus stays on the role of a member while it is changed", async () => {
  const { admin } = organization();
  const page = await openPage("/settings/members");
  const select = page.getByRole("row").filter({ hasText: admin.email }).getByRole("combobox");
  await select.focus();
  const changed = page.waitForResponse("**/update-member-role");
  const reloaded = page.waitForResponse("**/list-members*");
  await select.selectOption("member");
  expect((await changed).status()).toBe(200);
  await reloaded;
  expect(await focusedName(page)).toBe("Role of Ada");
});

test.skipIf(lacksBrowser)("a form is sent once while its request is open, whether by button or by Enter", async () => {
  const page = await openPage("/settings/tokens");
  let requests = 0;
  const opened = Promise.withResolvers<void>();
  await page.route("**/trpc/tokens.issue*", async (route) => {
    requests += 1;
    await opened.promise;
    await route.continue();
  });
  const panel = page.getByRole("region", { name: "API keys", exact: true });
  const name = panel.getByLabel("Name", { exact: true });
  await name.fill("once");
  await name.press("Enter");
  await panel.getByRole("button", { name: "Create API key", disabled: true }).press("Enter");
  await name.press("Enter");
  opened.resolve();
  await panel.getByRole("button", { name: "Revoke once" }).waitFor();
  expect(requests).toBe(1);
});
