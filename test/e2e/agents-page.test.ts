import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { findSample } from "../domain/sessions/import/samples.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { confirmInDialog, fillIn, openAs, readSecret } from "../support/clients/dashboard.ts";
import { instructionsEditor, readEditor, replaceText, saveInstructions } from "../support/clients/editor.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

const openAgents = (user: "owner" | "member"): Promise<Page> => {
  const { url, organizationId, [user]: signedIn } = organization();
  return openAs(browser(), signedIn, `${url}/agents?org=${organizationId}`);
};

async function confirm(page: Page, button: string, label: string, typed?: string): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
  await confirmInDialog(page, label, typed);
}

test.skipIf(lacksBrowser)(
  "an owner creates a server and an agent, and the agent uses the tool gateway with the token shown",
  async () => {
    const page = await openAgents("owner");
    const standard = page.getByRole("region", { name: "Default", exact: true });
    await standard.getByRole("cell", { name: "Main", exact: true }).waitFor();
    await expectAccessible(page);

    const newServer = page.getByRole("form", { name: "New server" });
    await newServer.getByLabel("Name", { exact: true }).fill("Office");
    await newServer.getByRole("button", { name: "Create server" }).click();
    const office = page.getByRole("region", { name: "Office", exact: true });
    await office.getByRole("cell", { name: "Main", exact: true }).waitFor();

    const newAgent = office.getByRole("form", { name: "New agent of Office" });
    await newAgent.getByLabel("Name", { exact: true }).fill("Invoices");
    await newAgent.getByRole("button", { name: "Create agent" }).click();
    await office.getByRole("cell", { name: "Invoices", exact: true }).waitFor();
    const token = await office.getByTestId("secret").innerText();
    await office.getByLabel("Client of the agent").selectOption("Codex");
    const configuration = office.getByRole("group", { name: "Configuration of the client" });
    expect(await configuration.innerText()).toContain(token);
    await expectAccessible(page);
    const gateway = new GatewayClient(organization().url, token);
    expect((await gateway.tool("service_get_agent_instructions")).isError).toBe(false);

    await confirm(page, "Delete Invoices", "Delete", "Invoices");
    await office.getByRole("cell", { name: "Invoices", exact: true }).waitFor({ state: "detached" });
    expect((await gateway.call("tools/list")).status).toBe(401);
    await confirm(page, "Delete the server Office", "Delete server", "Office");
    await office.waitFor({ state: "detached" });
    // An organization keeps one server.
    await confirm(page, "Delete the server Default", "Delete server", "Default");
    await page.getByRole("alert").getByText("only server").waitFor();
    expect(browser().problems.filter((problem) => !problem.includes("409"))).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "instructions are edited and restored on the agent's page, which overwrites no change made meanwhile",
  async () => {
    const { url, owner, organizationId } = organization();
    const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
    const page = await openAgents("owner");
    await page.getByRole("link", { name: "Main", exact: true }).first().click();
    const editor = instructionsEditor(page);
    await replaceText(page, editor, "# First\nBe brief.\n");
    await saveInstructions(page);
    await page.getByText("Revision 1", { exact: true }).waitFor();
    const agentId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const stored = await api.instructions.get.query({ id: agentId });
    expect(stored.content).toBe("# First\nBe brief.\n");

    await api.instructions.replace.mutate({ id: agentId, content: "# From a program" });
    await replaceText(page, editor, "# Second");
    await saveInstructions(page);
    await page.getByText("Somebody saved revision 2 while you were editing").waitFor();
    expect((await api.instructions.get.query({ id: agentId })).content).toBe("# From a program");
    await page.getByRole("button", { name: "Back to your version" }).click();
    expect(await readEditor(editor)).toBe("# Second");

    await confirm(page, "Discard draft", "Discard draft");
    await confirm(page, "Restore revision 1", "Restore");
    await page.getByText("Revision 3", { exact: true }).waitFor();
    expect(await readEditor(editor)).toBe("# First\nBe brief.\n");
    await page.getByText("3 (restored 1)").waitFor();
    await expectAccessible(page);

    await fillIn(page, { Name: "Chief", Model: "claude-sonnet-5" });
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("heading", { name: "Chief", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Issue gateway token" }).click();
    const gateway = new GatewayClient(url, await readSecret(page));
    const { structuredContent } = await gateway.tool("service_get_agent_instructions");
    expect(structuredContent["agent_id"]).toBe(agentId);
  },
);

test.skipIf(lacksBrowser)("a skill is enabled for an agent on its page, which says what is missing", async () => {
  const { url, owner, organizationId } = organization();
  const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
  const document = `---\nname: film\ndescription: Cuts films\nmetadata: {"openclaw": {"requires": {"bins": ["ffmpeg"]}}}\n---\n`;
  await api.skills.upload.mutate({ name: "film", files: [{ path: "SKILL.md", content: document }] });
  const page = await openAgents("owner");
  await page.getByRole("region", { name: "Default", exact: true }).getByRole("link").first().click();
  const row = page.getByRole("row").filter({ hasText: "Cuts films" });
  await row.getByText("disabled for this agent").waitFor();
  await page.getByRole("button", { name: "Enable film" }).click();
  await page.getByRole("button", { name: "Disable film" }).waitFor();
  await row.getByText("binary: ffmpeg").waitFor();
  expect(await row.getByText("disabled for this agent").count()).toBe(0);
  await expectAccessible(page);
});

test.skipIf(lacksBrowser)(
  "an agent's page lists its sessions with tokens, opens a transcript, and finds an entry by its words",
  async () => {
    const { url, owner, organizationId } = organization();
    const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
    const { servers } = await api.servers.list.query({});
    const agentId = servers[0]?.agent.agent_id ?? "";
    const { session_id: id } = await api.sessions.open.mutate({
      id: agentId,
      external_id: "s1",
      title: "Refund of Ada",
    });
    const usage = { input: 1200, output: 34, cache_read: 0, cache_write: 0 };
    const entries = Array.from({ length: 60 }, (_, index) => ({
      id: `e${index}`,
      role: "assistant" as const,
      content: `<b>Entry number ${index}</b>`,
    }));
    await api.sessions.append.mutate({ id, entries: [{ id: "u", role: "user", content: "Hello", usage }, ...entries] });
    const page = await openAgents("owner");
    await page.getByRole("region", { name: "Default", exact: true }).getByRole("link").first().click();
    await page.getByRole("row").filter({ hasText: "Refund of Ada" }).getByText("1,234").waitFor();
    await page.getByRole("link", { name: "Refund of Ada" }).click();
    // Content is text, and never HTML of the page.
    await page.getByText("<b>Entry number 59</b>", { exact: true }).waitFor();
    expect(await page.getByText("Hello", { exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Load earlier entries" }).click();
    await page.getByText("Hello", { exact: true }).waitFor();
    expect(await page.getByRole("listitem").count()).toBe(61);
    await expectAccessible(page);
    await page.getByRole("link", { name: "The agent of this session" }).click();
    await page.getByLabel("Words in the transcripts").fill("number 7 or Hello");
    await page.getByRole("button", { name: "Search transcripts" }).click();
    const results = page.getByRole("region", { name: "Search results" });
    const hit = results.getByRole("listitem").filter({ hasText: "<b>Entry number 7</b>" });
    await hit.waitFor();
    expect(await hit.locator("mark").allTextContents()).toEqual(["number", "7"]);
    await expectAccessible(page);
    await results.getByRole("link", { name: "Refund of Ada, entry 1", exact: true }).waitFor();
    await hit.getByRole("link").click();
    await page.getByText("<b>Entry number 7</b>", { exact: true }).waitFor();
    expect(await page.getByText("<b>Entry number 8</b>", { exact: true }).count()).toBe(0);
    await page.getByRole("link", { name: "Go to the end of the transcript" }).click();
    await page.getByText("<b>Entry number 59</b>", { exact: true }).waitFor();
  },
);

test.skipIf(lacksBrowser)(
  "a member imports a transcript on an agent's page, and reads why another file is rejected",
  async () => {
    const page = await openAgents("member");
    await page.getByRole("region", { name: "Default", exact: true }).getByRole("link").first().click();
    const form = page.getByRole("form", { name: "Import a transcript" });
    const importFile = async (file: string | { name: string; mimeType: string; buffer: Buffer }): Promise<void> => {
      await form.getByLabel("Transcript of a coding agent").setInputFiles(file);
      await form.getByRole("button", { name: "Import transcript" }).click();
    };
    await importFile(findSample("claude-code/session").file);
    await page.getByText("27 new entries, 0 existed already.").waitFor();
    await page.getByRole("row").filter({ hasText: "How many lines does notes.txt have?" }).getByText("997").waitFor();
    await expectAccessible(page);
    await importFile(findSample("claude-code/session").file);
    await page.getByText("0 new entries, 27 existed already.").waitFor();
    await importFile({ name: "notes.jsonl", mimeType: "", buffer: Buffer.from("Not a transcript\n") });
    await page.getByRole("alert").getByText("Line 1 is not JSON.").waitFor();
  },
);

test.skipIf(lacksBrowser)("a member sees agents, and which role creates them", async () => {
  const page = await openAgents("member");
  await page.getByRole("region", { name: "Default", exact: true }).getByRole("link").first().waitFor();
  await page.getByText("Role admin or owner required to create servers. Your role is member.").waitFor();
  expect(await page.getByRole("button", { name: /^(Create|Delete)/ }).count()).toBe(0);
  await expectAccessible(page);
});
