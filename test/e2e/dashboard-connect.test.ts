import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { fillIn, openAs, readSecret } from "../support/clients/dashboard.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

function openConnect(client: string): Promise<Page> {
  const { url, member, organizationId } = organization();
  return openAs(browser(), member, `${url}/connect?org=${organizationId}&client=${client}`);
}

test.skipIf(lacksBrowser)(
  "each client has its commands and settings with the URL of this installation, and no token",
  async () => {
    const page = await openConnect("claude-code");
    const command = page.getByRole("group", { name: "Command for Claude Code" });
    expect(await command.innerText()).toBe(
      `claude mcp add --scope user --transport http service ${organization().url}/mcp`,
    );
    await expectAccessible(page);
    const clients = page.getByRole("navigation", { name: "Clients" }).getByRole("link");
    expect(await clients.count()).toBe(11);
    for (const link of await clients.all()) {
      await link.click();
      await page.waitForURL(({ searchParams }) => searchParams.has("client"));
      const content = await page.getByRole("main").innerText();
      expect(content).toContain(organization().url);
      expect(content).not.toContain("svp_");
    }
    await page.getByRole("link", { name: "Cursor" }).click();
    expect(await page.getByRole("link", { name: "Add to Cursor" }).getAttribute("href")).toMatch(/^cursor:/);
    await page.getByRole("link", { name: "VS Code" }).click();
    const link = await page.getByRole("link", { name: "Add to VS Code" }).getAttribute("href");
    const entry = JSON.parse(decodeURIComponent(link?.replace("vscode:mcp/install?", "") ?? "")) as { url: string };
    expect(entry.url).toBe(`${organization().url}/mcp`);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "a token created for a client is in its settings, works at the gateway, and the test shows what the client sees",
  async () => {
    const { url, member } = organization();
    const page = await openConnect("cursor");
    await page.getByRole("combobox", { name: "Permissions" }).selectOption("read");
    await page.getByRole("button", { name: "Create a token for Cursor" }).click();
    const token = await readSecret(page);
    const settings = JSON.parse(await page.getByRole("group", { name: "Settings of Cursor" }).innerText()) as unknown;
    const server = { url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } };
    expect(settings).toEqual({ mcpServers: { service: server } });
    const tools = await new GatewayClient(url, token).tools();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText(`Connected: ${tools.length} tools`).waitFor();
    const result = await page.getByRole("region", { name: "Test the connection" }).innerText();
    for (const text of [`Ada (${member.email})`, "Cursor, permissions: read", "Acme"]) expect(result).toContain(text);
    await page.getByText("Names of the tools").click();
    await page.getByText("service_list_apps", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.getByRole("button", { name: "Create a token for Cursor" }).waitFor();
    expect(await page.content()).not.toContain(token);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the test of the connection says what is wrong with a token, and what to do", async () => {
  const { url, owner, organizationId } = organization();
  const rpc = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
  const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI" });
  const revoked = await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Old" });
  await rpc.tokens.revoke.mutate({ id: revoked.id });
  const page = await openConnect("other");
  const expected = [
    [key.token, "This is an API key, for the REST API."],
    [revoked.token, "The gateway does not accept this token: it is incomplete, expired or revoked."],
    ["secret", "This is not a token of this service."],
  ] as const;
  for (const [token, message] of expected) {
    await fillIn(page, { Token: token });
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("alert").getByText(message).waitFor();
    expect(await page.getByRole("alert").innerText()).not.toContain(token);
  }
  await expectAccessible(page);
  expect(browser().problems).toEqual([]);
});
