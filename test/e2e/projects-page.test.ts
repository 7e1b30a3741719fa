import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { confirmInDialog, openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

async function openApi() {
  const { url, owner, organizationId } = organization();
  return rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
}

const openPage = (user: "owner" | "member", path: string): Promise<Page> => {
  const { url, organizationId, [user]: signedIn } = organization();
  return openAs(browser(), signedIn, `${url}${path}?org=${organizationId}`);
};

test.skipIf(lacksBrowser)(
  "an owner creates a project, uploads and searches documents, mounts it on an agent, and deletes it",
  async () => {
    const api = await openApi();
    const page = await openPage("owner", "/projects");
    await page.getByText("No projects yet.").waitFor();
    const form = page.getByRole("region", { name: "New project" });
    await form.getByLabel("Name").fill("Acme");
    await form.getByLabel("Kind").selectOption("engagement");
    await form.getByRole("button", { name: "Create project" }).click();
    await page.getByRole("link", { name: "Acme", exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Acme", exact: true }).click();

    const documents = page.getByRole("region", { name: "Documents" });
    await documents.getByText("No documents yet.").waitFor();
    const files = [
      {
        name: "payment.md",
        mimeType: "text/markdown",
        buffer: Buffer.from("# Payment\n\nInvoices are due in 30 days."),
      },
      { name: "contacts.txt", mimeType: "text/plain", buffer: Buffer.from("Anna leads sales. <b>Call first.</b>") },
    ];
    await page.locator('input[aria-label="Files"]').setInputFiles(files);
    await page.getByText("2 added.").waitFor();
    await documents.getByRole("cell", { name: "payment.md", exact: true }).waitFor();
    await page.getByText("Write a document", { exact: true }).click();
    const writing = page.getByRole("form", { name: "Write a document" });
    await writing.getByLabel("Title").fill("Plan");
    await writing.getByLabel("Text as Markdown").fill("The launch is in May.");
    await writing.getByRole("button", { name: "Add document" }).click();
    await documents.getByRole("cell", { name: "Plan", exact: true }).waitFor();

    const search = page.getByRole("region", { name: "Search" });
    await search.getByLabel("Words in the documents").fill("when are invoices due?");
    await search.getByRole("button", { name: "Search" }).click();
    await search.getByText("Invoices are due in 30 days.").waitFor();
    await search.getByRole("link", { name: "Payment" }).click();
    await page.getByRole("region", { name: "Text", exact: true }).locator("mark").first().waitFor();
    await page.getByRole("link", { name: "All documents of the project" }).click();
    await search.getByLabel("Words in the documents").fill("warehouse");
    await search.getByRole("button", { name: "Search" }).click();
    await search.getByText("No document matches these words.").waitFor();

    const agents = page.getByRole("region", { name: "Agents" });
    await agents.getByRole("button", { name: "Mount", exact: true }).click();
    await agents.getByRole("button", { name: "Unmount from Main" }).waitFor();
    await expectAccessible(page);
    const [project] = (await api.projects.list.query({})).projects;
    expect(project).toMatchObject({ name: "Acme", kind: "engagement", document_count: 3 });
    expect((await api.projects.browse.query({})).projects).toMatchObject([{ name: "Acme" }]);
    await agents.getByRole("button", { name: "Unmount from Main" }).click();
    await agents.getByText("The project is not mounted on any agent.").waitFor();

    await documents.getByRole("button", { name: "Delete Plan" }).click();
    await confirmInDialog(page, "Delete", "Plan");
    await documents.getByRole("cell", { name: "Plan", exact: true }).waitFor({ state: "detached" });
    const settings = page.getByRole("region", { name: "Settings" });
    await settings.getByLabel("Name").fill("Acme Germany");
    await settings.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("heading", { name: "Acme Germany", level: 1 }).waitFor();
    await settings.getByRole("button", { name: "Delete project" }).click();
    await confirmInDialog(page, "Delete project", "Acme Germany");
    await page.getByText("No projects yet.").waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("a member works with a project, and reads which role deletes it", async () => {
  const api = await openApi();
  const { project_id: id } = await api.projects.create.mutate({ name: "Globex", kind: "client" });
  const page = await openPage("member", `/projects/${id}`);
  const settings = page.getByRole("region", { name: "Settings" });
  await settings.getByText("Role admin or owner required to delete the project. Your role is member.").waitFor();
  expect(await settings.getByRole("button", { name: "Delete project" }).count()).toBe(0);
  await page.getByRole("button", { name: "Mount", exact: true }).click();
  await page.getByRole("button", { name: "Unmount from Main" }).waitFor();
  expect(browser().problems).toEqual([]);
});
