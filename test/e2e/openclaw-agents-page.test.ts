import { expect, test } from "vitest";
import { ScriptedGateway } from "../support/agents/scripted-openclaw-gateway.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { instructionsEditor, replaceText, saveInstructions } from "../support/clients/editor.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization(
  { agentHostNetworks: ["127.0.0.0/8"], agentHostPorts: [{ from: 1024, to: 65_535 }] },
  { worker: true },
);
const browser = sharedBrowser();

test.skipIf(lacksBrowser)(
  "the page of an agent in OpenClaw shows its sessions, transcripts, skills and instructions, and changes only the latter",
  async () => {
    await using gateway = await ScriptedGateway.open();
    const { url, owner, organizationId } = organization();
    const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
    const registered = { name: "Office", kind: "openclaw" as const, url: gateway.url, token: gateway.token };
    await api.servers.create.mutate(registered);
    const findOffice = async () => (await api.servers.list.query({})).servers.find(({ name }) => name === "Office");
    await expect.poll(findOffice).toMatchObject({ status: "ready" });
    const agentId = (await findOffice())!.agent.agent_id;

    const page = await openAs(browser(), owner, `${url}/agents/${agentId}?org=${organizationId}`);
    await page.getByText("Change the name and the model in OpenClaw").waitFor();
    await page.getByRole("row").filter({ hasText: "1password" }).getByText("program op").waitFor();
    expect(await page.getByRole("button", { name: /^(Enable|Disable|Save settings|Import)/ }).count()).toBe(0);
    await replaceText(page, instructionsEditor(page), "# From the dashboard\n");
    await saveInstructions(page);
    await page.getByText("Revision 2", { exact: true }).waitFor();
    expect(gateway.state.files["main"]).toBe("# From the dashboard\n");
    await expectAccessible(page);

    const row = page.getByRole("row").filter({ hasText: "Hello there" });
    await row.getByText("unknown", { exact: true }).waitFor();
    await row.getByRole("link", { name: "Hello there" }).click();
    await page.getByText("It says: Rules", { exact: true }).waitFor();
    // A tool call and its result are one item.
    expect(await page.getByRole("listitem").count()).toBe(6);
    await expectAccessible(page);
  },
);
