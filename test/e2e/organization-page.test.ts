import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { fillIn, openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { service, organization } = sharedOrganization();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)(
  "an admin reads that there are many tools and removes the direct tools, and a member only reads the setting",
  async () => {
    const { admin, member, owner, organizationId, url } = organization();
    const user = (await owner.get("/get-session")).body["user"] as { id: string };
    for (let at = 0; at < 12; at++) {
      const app = await service().givenApp({ org_id: organizationId, user_id: user.id }, {});
      const procedures = ["a", "b", "c", "d", "e"].map((name) => discoveredProcedure(name));
      await givenProcedures(service(), app, procedures);
    }
    const pageUrl = `${url}/settings/organization?org=${organizationId}`;
    const page = await openAs(browser(), admin, pageUrl);
    await page.getByText("None is recommended.").waitFor();
    await expectAccessible(page);
    const select = page.getByRole("combobox", { name: "Procedures of apps as tools" });
    await select.selectOption("none");
    await page.getByText("They call the procedures of all apps with service_execute.").waitFor();
    expect(await page.getByText("None is recommended.").count()).toBe(0);
    const api = rpcClient(url, await admin.accessToken(), { "x-service-org-id": organizationId });
    expect((await api.organization.get.query()).direct_tools).toBe("none");
    const memberPage = await openAs(browser(), member, pageUrl);
    await memberPage.getByText("Role admin or owner required to change the direct tools.").waitFor();
    await memberPage.getByText("They call the procedures of all apps with service_execute.").waitFor();
    expect(await memberPage.getByRole("combobox", { name: "Procedures of apps as tools" }).count()).toBe(0);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("an admin renames the organization, whose menu then shows the new name", async () => {
  const { admin, member, organizationId, url } = organization();
  const pageUrl = `${url}/settings/organization?org=${organizationId}`;
  const page = await openAs(browser(), admin, pageUrl);
  await fillIn(page, { "Organization name": "Acme Tools" });
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("button", { name: "Organization: Acme Tools", exact: true }).waitFor();
  const memberPage = await openAs(browser(), member, pageUrl);
  await memberPage.getByRole("button", { name: "Organization: Acme Tools", exact: true }).waitFor();
  await memberPage.getByText("Role admin or owner required to rename the organization.").waitFor();
  expect(browser().problems).toEqual([]);
});
