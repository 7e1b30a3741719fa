import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

interface TestEntry {
  role: "user" | "assistant" | "tool";
  content: string;
  tool?: { name: string; call_id?: string; is_error?: boolean };
}

/** Stores a session and opens its transcript. */
async function openTranscript(externalId: string, entries: TestEntry[]): Promise<Page> {
  const { url, owner, organizationId } = organization();
  const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
  const { servers } = await api.servers.list.query({});
  const agentId = servers[0]?.agent.agent_id ?? "";
  const { session_id: id } = await api.sessions.open.mutate({
    id: agentId,
    external_id: externalId,
    title: externalId,
  });
  await api.sessions.append.mutate({ id, entries: entries.map((entry, index) => ({ id: `e${index}`, ...entry })) });
  return openAs(browser(), owner, `${url}/sessions/${id}?org=${organizationId}`);
}

const item = (page: Page, text: string): Locator => page.getByRole("listitem").filter({ hasText: text }).first();

const ANSWER = `# Prices of today

The **first** price is in [the list](https://example.com/list), not [here](javascript:alert(1)).

- [x] Asked Ada

| Name | Price |
|------|-------|
| Tea  | 3     |

![A chart](http://images.invalid/chart.png)

\`\`\`ts
const price = 3;
\`\`\`

<script>alert("no")</script>
<img src="http://images.invalid/pixel.png">
`;

test.skipIf(lacksBrowser)(
  "messages are shown as Markdown without HTML, and without images of other sites",
  async () => {
    const page = await openTranscript("markdown", [
      { role: "user", content: "What does *tea* cost?" },
      { role: "assistant", content: ANSWER },
    ]);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.locator("em", { hasText: "tea" }).waitFor();
    const answer = item(page, "Prices of today");
    expect(await answer.locator("strong", { hasText: "first" }).count()).toBe(1);
    expect(await answer.locator("td", { hasText: "Tea" }).count()).toBe(1);
    const link = answer.getByRole("link", { name: "the list" });
    expect(await link.getAttribute("href")).toBe("https://example.com/list");
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
    expect(await answer.getByRole("link", { name: "Image: A chart" }).getAttribute("href")).toBe(
      "http://images.invalid/chart.png",
    );
    expect(await answer.locator("img, script, [href^=javascript]").count()).toBe(0);
    expect(await answer.innerText()).toContain('<script>alert("no")</script>');
    await expectAccessible(page);

    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await answer.getByRole("button", { name: "Copy the code" }).click();
    await answer.getByRole("button", { name: "Copied the code" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("const price = 3;");
    expect(requests.filter((url) => url.includes("images.invalid"))).toEqual([]);
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a tool call is folded with its input and its result", async () => {
  const page = await openTranscript("tools", [
    { role: "user", content: "List the orders" },
    { role: "assistant", content: '{"limit":2}', tool: { name: "orders_list", call_id: "c1" } },
    { role: "assistant", content: '{"path":"a"}', tool: { name: "read_file", call_id: "c2" } },
    { role: "tool", content: "No such file", tool: { name: "read_file", call_id: "c2", is_error: true } },
    { role: "tool", content: '[{"id":1}]', tool: { name: "orders_list", call_id: "c1" } },
  ]);
  const orders = item(page, "orders_list");
  await orders.waitFor();
  expect(await page.getByRole("listitem").count()).toBe(3);
  const result = orders.getByRole("group", { name: "Result of orders_list" });
  expect(await result.isVisible()).toBe(false);
  await orders.locator("summary").click();
  expect(await orders.getByRole("group", { name: "Input of orders_list" }).innerText()).toBe('{\n  "limit": 2\n}');
  expect(JSON.parse(await result.innerText())).toEqual([{ id: 1 }]);
  await item(page, "read_file").getByText("failed", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Link to entry 2", exact: true }).click();
  await page.waitForURL(/entry=2/);
  // The result is a later entry than the one of the link.
  await page.getByText("The result is not among the entries shown.").waitFor();
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)(
  "a search in a transcript also finds entries that were not loaded, and opens them",
  async () => {
    const entries = Array.from({ length: 120 }, (_, index) => ({
      role: "assistant" as const,
      content: index === 3 ? "The code word is Mango." : `Message ${index}`,
    }));
    const page = await openTranscript("search", entries);
    await page.getByText("Message 119", { exact: true }).waitFor();
    await page.getByLabel("Search in this transcript").fill("word is mango");
    const found = page.getByRole("region", { name: "Entries found" });
    await found.getByText("1 entry", { exact: true }).waitFor();
    expect(await found.locator("mark").innerText()).toBe("word is Mango");
    await expectAccessible(page);
    await found.getByRole("link", { name: "Entry 4" }).click();
    await page.getByText("The code word is Mango.").waitFor();
    expect(await page.getByText("Message 4", { exact: true }).count()).toBe(0);
    await page.getByLabel("Search in this transcript").fill("papaya");
    await page.getByText("No entry contains this text.").waitFor();
    expect(browser().problems).toEqual([]);
  },
);
