import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";

const { service, organization } = sharedOrganization();
const browser = sharedBrowser();

/** The headings of the first steps, in their order. */
const readSteps = (page: Page): Promise<string[]> =>
  page.getByRole("region", { name: "First steps" }).getByRole("heading", { level: 3 }).allTextContents();

/** Creates an organization with one member, and opens its start page. */
async function openNewOrganization() {
  const { url } = organization();
  const user = new TestUser(url);
  await user.signUp();
  const { body } = await user.post("/organization/create", { name: "Solo", slug: randomUUID() });
  const organizationId = String(body["id"]);
  const { body: session } = await user.get("/get-session");
  const tenant = { org_id: organizationId, user_id: (session["user"] as { id: string }).id };
  const page = await openAs(browser(), user, `${url}/?org=${organizationId}`);
  return { user, page, tenant, organizationId };
}

test.skipIf(lacksBrowser)(
  "each first step is ticked off when it is true, and the steps disappear when all are done",
  async () => {
    const { user, page, tenant, organizationId } = await openNewOrganization();
    const { url, invite } = organization();
    await page.getByRole("button", { name: "Deploy the guestbook" }).waitFor();
    expect(await readSteps(page)).toEqual(["Deploy an example", "Connect an agent", "Invite a teammate"]);
    await expectAccessible(page);

    await service().givenApp(tenant, { name: "guestbook" });
    const rpc = rpcClient(url, await user.accessToken(), { "x-service-org-id": organizationId });
    const { token } = await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Laptop" });
    await page.reload();
    await page.getByText("1 of 3 done").waitFor();
    expect((await new GatewayClient(url, token).call("tools/list")).status).toBe(200);
    await expect.poll(async () => (await rpc.tokens.list.query()).tokens[0]?.last_used_at).toEqual(expect.any(String));
    await page.reload();
    await page.getByText("2 of 3 done").waitFor();
    expect(await readSteps(page)).toEqual(["Deploy an example (done)", "Connect an agent (done)", "Invite a teammate"]);

    await invite(user, "carol@example.com", "member", { organizationId });
    await page.reload();
    await page.getByRole("heading", { name: "Newest apps" }).waitFor();
    await page.getByRole("link", { name: "guestbook", exact: true }).waitFor();
    expect(await page.getByText("First steps").count()).toBe(0);
    await expectAccessible(page);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "one click deploys the guestbook and opens its deployment, and dismissed steps stay away after a reload",
  async () => {
    const { page } = await openNewOrganization();
    await page.getByRole("button", { name: "Deploy the guestbook" }).click();
    await page.waitForURL(/\/apps\/[\w-]+\/deployments\/1\?/);
    await page.getByRole("link", { name: "Overview", exact: true }).first().click();
    await page.getByRole("link", { name: "Deploying guestbook…" }).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    for (const open of [() => Promise.resolve(), () => page.reload()]) {
      await open();
      await page.getByRole("heading", { name: "Newest apps" }).waitFor();
      expect(await page.getByText("First steps").count()).toBe(0);
    }
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the overview says which apps have failed and why", async () => {
  const { page, tenant } = await openNewOrganization();
  const failure = { error: "npm run build failed: exit code 1", statusMessage: "Correct the source." };
  await service().givenApp(tenant, { name: "broken", status: "failed", ...failure });
  await page.reload();
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("npm run build failed: exit code 1 Correct the source.").waitFor();
  await attention.getByRole("link", { name: "broken" }).click();
  await page.waitForURL(/\/apps\/[\w-]+\/deployments\?/);
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "in an organization with several members, the teammate is ticked off for each of them",
  async () => {
    const { url, organizationId, member } = organization();
    const page = await openAs(browser(), member, `${url}/?org=${organizationId}`);
    await page.getByRole("button", { name: "Deploy the guestbook" }).waitFor();
    expect(await readSteps(page)).toEqual(["Deploy an example", "Connect an agent", "Invite a teammate (done)"]);
    expect(await page.getByRole("main").getByRole("link", { name: "Invite" }).count()).toBe(0);
    expect(browser().problems).toEqual([]);
  },
);
