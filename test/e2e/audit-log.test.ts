import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { fillIn, openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();
const invitedEmail = randomEmail();
/** A name that a spreadsheet would execute. */
const FORMULA = '=HYPERLINK("https://example.com","x")';

beforeAll(async () => {
  const { url, owner, organizationId, invite } = organization();
  const headers = { "x-service-org-id": organizationId };
  const rpc = rpcClient(url, await owner.accessToken(), headers);
  const { id } = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI", scope: "read" });
  await rpc.tokens.revoke.mutate({ id });
  await rpc.tokens.issue.mutate({ kind: "api_key", name: FORMULA, scope: "read" });
  await invite(owner, invitedEmail, "member");
});

function openAuditLog(query = ""): Promise<Page> {
  const { url, owner, organizationId } = organization();
  return openAs(browser(), owner, `${url}/settings/audit?org=${organizationId}${query}`);
}

/** The texts of a column of the audit log. */
async function readColumn(page: Page, index: number): Promise<string[]> {
  await page.getByRole("table").waitFor();
  const rows = await page.getByRole("row").all();
  const texts = await Promise.all(rows.slice(1).map((row) => row.getByRole("cell").nth(index).innerText()));
  return [...new Set(texts)];
}

test.skipIf(lacksBrowser)(
  "the audit log shows names, and a link filters it by an action in a URL that survives a reload",
  async () => {
    const page = await openAuditLog();
    await page.getByRole("link", { name: "tokens.revoke" }).click();
    await page.waitForURL(({ searchParams }) => searchParams.get("action") === "tokens.revoke");
    await page.getByRole("link", { name: "tokens.issue" }).waitFor({ state: "detached" });
    for (const open of [() => page.waitForLoadState(), () => page.reload()]) {
      await open();
      expect(await readColumn(page, 1)).toEqual(["tokens.revoke"]);
      expect(await readColumn(page, 3)).toEqual([expect.stringContaining(`Ada ${organization().owner.email}`)]);
      expect(await readColumn(page, 4)).toEqual(["Token CI"]);
    }
    expect(await page.getByLabel("Action", { exact: true }).inputValue()).toBe("tokens.revoke");
    await expectAccessible(page);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "the form of the audit log filters by user and time, says when nothing matches, and clears the filters",
  async () => {
    const page = await openAuditLog("&action=organization/accept-invitation");
    expect(await readColumn(page, 1)).toEqual(["organization/accept-invitation"]);
    const { admin } = organization();
    await page.getByLabel("User", { exact: true }).selectOption({ label: `Ada (${admin.email})` });
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(({ searchParams }) => searchParams.has("user_id") && searchParams.has("action"));
    await page.getByRole("row").nth(2).waitFor({ state: "detached" });
    expect(await readColumn(page, 3)).toEqual([expect.stringContaining(admin.email)]);
    await fillIn(page, { Before: "2020-01-01T00:00" });
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("No event matches the filters.").waitFor();
    expect(await page.getByLabel("Before", { exact: true }).inputValue()).toBe("2020-01-01T00:00");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("link", { name: "organization/invite-member" }).first().waitFor();
    await page.getByRole("cell", { name: `Invitation for ${invitedEmail}` }).waitFor();
    expect([...new URL(page.url()).searchParams.keys()]).toEqual(["org"]);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the audit log says which filter of the URL is invalid, and keeps the form", async () => {
  const page = await openAuditLog("&from=yesterday");
  const alert = page.getByRole("alert");
  expect(await alert.innerText()).toBe("from: must be an RFC 3339 time with an offset, such as 2026-11-20T09:30:00Z");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("table").waitFor();
});

test.skipIf(lacksBrowser)(
  "the target of an event filters the log, and the export has every matching event, without formulas",
  async () => {
    const page = await openAuditLog("&action=tokens.issue");
    await page.getByRole("link", { name: `Token ${FORMULA}` }).click();
    await page.waitForURL(({ searchParams }) => searchParams.has("target"));
    await page.getByRole("link", { name: "Token CI" }).waitFor({ state: "detached" });
    expect(await readColumn(page, 4)).toEqual([`Token ${FORMULA}`]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("audit-log.csv");
    const [header, event, ...others] = (await readFile(await download.path(), "utf8")).split("\r\n");
    expect(header).toMatch(/^created_at,action,outcome,user_id,/);
    expect(event).toMatch(/^2\d{3}-[\d:.TZ-]+,tokens\.issue,done,/);
    expect(event).toContain(`,"'=HYPERLINK(""https://example.com"",""x"")",`);
    expect(others).toEqual([""]);
    await page.getByText("Exported 1 event.").waitFor();
    expect(browser().problems).toEqual([]);
  },
);
