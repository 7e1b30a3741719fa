import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, openBrowser } from "../support/clients/browser.ts";
import { fillIn } from "../support/clients/dashboard.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { openPublishedClients } from "../support/identity/published-clients.ts";

test.skipIf(lacksBrowser)(
  "the account page lists the connected clients of the user, and revoking one ends its access at once",
  async () => {
    await using clients = await openPublishedClients();
    await using browser = await openBrowser();
    const { publicUrl, oauth, publisher, user } = clients;
    const connect = async (clientId: string, scope: string, decision: object = {}): Promise<GatewayClient> => {
      const { body } = await oauth.grantTo(clientId, { resource: `${publicUrl}/mcp`, scope }, {}, decision);
      return new GatewayClient(publicUrl, String(body["access_token"]));
    };
    const registered = await connect(await oauth.register({ client_name: "An agent" }), "read offline_access");
    const { body: acme } = await user.post("/organization/create", { name: "Acme", slug: randomUUID() });
    const editor = publisher.publish("/editor.json", { client_name: "An editor" });
    const published = await connect(editor, "everything", { organizationId: acme["id"] });

    const page = await browser.open();
    await page.goto(`${publicUrl}/settings/account`);
    await fillIn(page, { Email: user.email, Password: user.password });
    await page.getByRole("button", { name: "Sign in" }).click();
    const table = page.getByRole("table", { name: "Connected clients" });
    const cellsOf = async (name: string) =>
      (await table.getByRole("row", { name }).getByRole("cell").allInnerTexts()).slice(0, 5);
    await table.waitFor();
    await expectAccessible(page);
    const time = expect.stringMatching(/^(now|\d+ min\. ago)$/);
    expect(await cellsOf("An agent")).toEqual([
      "An agent",
      "registered here",
      "read, offline_access",
      "all of yours",
      time,
    ]);
    const host = `client.example.com:${publisher.port}`;
    expect(await cellsOf("An editor")).toEqual(["An editor", host, "everything", "Acme", time]);

    await page.getByRole("button", { name: "Revoke An agent" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await table.getByRole("row", { name: "An agent" }).waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Revoke An editor");
    expect((await registered.call("tools/list")).status).toBe(401);
    expect((await published.call("tools/list")).status).toBe(200);
    expect(await cellsOf("An editor")).toContain(host);
    expect(browser.problems).toEqual([]);
  },
);
