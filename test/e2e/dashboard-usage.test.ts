import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

/** A number of bytes as the database stores it. */
const mb = (count: number): string => String(count * 1024 ** 2);

const { service, organization } = sharedOrganization();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)(
  "the usage page shows the quotas, the rate limits, the activity and what each app stores of its limit",
  async () => {
    const { url, member, owner, organizationId } = organization();
    const { body } = await owner.get("/get-session");
    const tenant = { org_id: organizationId, user_id: (body["user"] as { id: string }).id };
    const { givenApp, service: running } = service();
    const app = await givenApp(tenant, { name: "shop" });
    const { db } = running.parts;
    const bytes = { sql_bytes: mb(3), key_value_bytes: mb(0), object_bytes: mb(1), durable_bytes: mb(0) };
    await db
      .insertInto("app_storage")
      .values({ app_id: app.id, ...bytes, total_bytes: mb(4), measured_at: new Date() })
      .execute();

    const page = await openAs(browser(), member, `${url}/usage?org=${organizationId}`);
    const meter = page.getByRole("meter", { name: "Storage of shop" });
    expect(await meter.getAttribute("aria-valuetext")).toMatch(/^4 MB of \d/);
    const storage = page.getByRole("region", { name: "Storage by app" });
    await storage.getByText("3 MB SQL, 1 MB files").waitFor();
    expect(await page.getByRole("meter", { name: "Apps" }).getAttribute("aria-valuetext")).toMatch(/^1 of \d/);
    const deployments = page.getByRole("row", { name: "Deployments" });
    expect(await deployments.getByRole("cell").last().innerText()).toBe("not used");
    await page.getByText("Requests to apps").waitFor();
    await expectAccessible(page);
    await storage.getByRole("link", { name: app.slug }).click();
    await page.waitForURL(({ pathname }) => pathname === `/apps/${app.id}`);
    expect(browser().problems).toEqual([]);
  },
);
