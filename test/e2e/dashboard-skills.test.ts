import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { strToU8, zipSync } from "fflate";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const { organization } = sharedOrganization();
const browser = sharedBrowser();

const describe = (name: string): string => `---\nname: ${name}\ndescription: Makes ${name}\n---\nDo it.\n`;

async function openAgent() {
  const { url, owner, organizationId } = organization();
  const api = rpcClient(url, await owner.accessToken(), { "x-service-org-id": organizationId });
  const { servers } = await api.servers.list.query({});
  const agentId = servers[0]?.agent.agent_id ?? "";
  const page = await openAs(browser(), owner, `${url}/agents/${agentId}?org=${organizationId}`);
  return { page, api };
}

/** Creates a folder with files until the end of the scope. */
async function createFolder(name: string, files: Record<string, string>) {
  const parent = await mkdtemp(path.join(tmpdir(), "skill-"));
  const folder = path.join(parent, name);
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  }
  return { folder, [Symbol.asyncDispose]: () => rm(parent, { recursive: true }) };
}

async function uploadArchive(page: Page, name: string, files: Record<string, string>): Promise<void> {
  const buffer = Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([file, content]) => [file, strToU8(content)]))),
  );
  const form = page.getByRole("form", { name: "Upload a skill" });
  await form.getByLabel("Zip file").setInputFiles({ name, mimeType: "application/zip", buffer });
  await form.getByRole("button", { name: "Upload skill" }).click();
}

test.skipIf(lacksBrowser)("a skill is uploaded as a folder, and is enabled for the agent", async () => {
  await using created = await createFolder("my-folder", {
    "SKILL.md": describe("tea"),
    "scripts/boil.sh": "echo hot\n",
    ".git/config": "[core]\n",
  });
  const { page, api } = await openAgent();
  const form = page.getByRole("form", { name: "Upload a skill" });
  await form.getByLabel("Folder with a SKILL.md").setInputFiles(created.folder);
  await form.getByRole("button", { name: "Upload skill" }).click();
  await page.getByText("Skill tea stored with 2 files.").waitFor();
  await page.getByRole("button", { name: "Disable tea" }).waitFor();
  const { files } = await api.skills.get.query({ name: "tea" });
  expect(files.map((file) => file.path)).toEqual(["SKILL.md", "scripts/boil.sh"]);
  await expectAccessible(page);
  expect(browser().problems).toEqual([]);
});

test.skipIf(lacksBrowser)("a skill is uploaded as a zip file, which says why another file is rejected", async () => {
  const { page, api } = await openAgent();
  await page.getByLabel("Enable it for this agent").uncheck();
  await uploadArchive(page, "download.zip", { "coffee/SKILL.md": describe("coffee"), "coffee/notes.md": "Hot" });
  await page.getByText("Skill coffee stored with 2 files.").waitFor();
  await page.getByRole("button", { name: "Enable coffee" }).waitFor();
  expect((await api.skills.get.query({ name: "coffee" })).file_count).toBe(2);

  await uploadArchive(page, "notes.zip", { "README.md": "# Notes" });
  await page.getByRole("alert").getByText("notes.zip has no SKILL.md at its top").waitFor();
  await uploadArchive(page, "unnamed.zip", { "SKILL.md": "# Cake" });
  await page.getByRole("alert").getByText("The SKILL.md has no name.").waitFor();
  await uploadArchive(page, "upper.zip", { "SKILL.md": describe("Upper Case") });
  await page.getByRole("alert").getByText("lowercase letters, digits and hyphens").waitFor();
  await expectAccessible(page);
});
