import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { expectAccessible } from "../support/clients/browser.ts";
import { fillIn, PASSWORD, readSecret, waitForStatus } from "../support/clients/dashboard.ts";
import { instructionsEditor, readEditor, replaceText, saveInstructions } from "../support/clients/editor.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sharedInstallation } from "./shared-installation.ts";

const shared = sharedInstallation();
afterEach(() => {
  const { problems } = shared().browser;
  if (problems.length > 0) throw new Error(`A page has reported errors: ${problems.join("; ")}`);
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Presses a button that asks, and confirms. */
async function confirm(page: Page, name: string, label: string): Promise<void> {
  await button(page, name).click();
  await button(page, label).last().click();
}

test("a changed variable restarts the app, which then answers with the new value", async () => {
  const { repositories, open } = shared();
  const repository = await Repository.create(repositories, "acme/greeting");
  await repository.commitFiles({
    "src/index.ts": `export default { fetch: (_, env) => new Response(env.GREETING ?? "nothing") };`,
  });
  const page = await open("/apps/new");
  await fillIn(page, { Repository: "acme/greeting" });
  await page.getByText("The first build and the first start have them already").click();
  await fillIn(page, { "Text of a .env file": "GREETING=Hello" });
  await page.getByLabel(/^Secrets: /).uncheck();
  await button(page, "Deploy").click();
  await waitForStatus(page, "ready");
  const url = (await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href")) ?? "";
  expect((await appRequest(url)).text).toBe("Hello");

  await page.getByRole("link", { name: "Variables", exact: true }).click();
  await page.getByRole("cell", { name: "Hello" }).waitFor();
  await fillIn(page, { Name: "GREETING", Value: "Good evening" });
  await page.getByLabel(/^Secret: /).uncheck();
  await button(page, "Set variable").click();
  await page.getByRole("cell", { name: "Good evening" }).waitFor();
  await page.getByText("The app runs with these variables.").waitFor();
  expect((await appRequest(url)).text).toBe("Good evening");

  await confirm(page, "Delete GREETING", "Delete");
  await page.getByText("No variables yet.").waitFor();
  await expect.poll(async () => (await appRequest(url)).text).toBe("nothing");
  await button(page, "Undo").click();
  await expect.poll(async () => (await appRequest(url)).text).toBe("Good evening");
});

test("instructions that were saved in another tab meanwhile are merged, and the conflict is resolved", async () => {
  const first = await shared().open("/agents");
  await first.getByRole("row").filter({ hasText: "main" }).getByRole("link").first().click();
  await instructionsEditor(first).waitFor();
  await replaceText(first, instructionsEditor(first), "# Rules\nBe brief.\n\nAsk first.\n");
  await saveInstructions(first);
  await first.getByText("Instructions saved").first().waitFor();
  const second = await first.context().newPage();
  await second.goto(first.url());
  await instructionsEditor(second).waitFor();

  await replaceText(first, instructionsEditor(first), "# My rules\nBe brief.\n\nAsk me first.\n");
  await replaceText(second, instructionsEditor(second), "# Rules\nBe brief.\n\nAsk Ada first.\n");
  await saveInstructions(second);
  await second.getByText("Instructions saved").first().waitFor();
  await saveInstructions(first);
  const conflict = first.getByRole("group", { name: /^Conflict 1 of 1/ });
  await conflict.getByText("Ask Ada first.").waitFor();
  await expectAccessible(first);
  await conflict.getByLabel("Keep both").check();
  await button(first, "Review merged instructions").click();
  await button(first, "Save instructions").click();
  await first.getByText("Instructions saved").last().waitFor();

  const merged = "# My rules\nBe brief.\n\nAsk me first.\nAsk Ada first.\n";
  await expect.poll(() => readEditor(instructionsEditor(first))).toBe(merged);
  await second.reload();
  await expect.poll(() => readEditor(instructionsEditor(second))).toBe(merged);
  expect(await second.getByText(/^Unsaved draft/).count()).toBe(0);
});

const HANDBOOK: Readonly<Record<string, string>> = {
  "travel/trains.md": "# Travel\n\n## Trains\n\nEmployees travel by train in **first class** after four hours.\n",
  "office/parking.txt": "Parking behind the house is free.\n",
  "office/plan.psd": "not a document",
};

test("a folder is uploaded to Knowledge, and the citation of an answer opens its passage", async () => {
  await using parent = await temporaryFolder();
  const folder = path.join(parent.path, "handbook");
  for (const [file, content] of Object.entries(HANDBOOK)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  }
  const page = await shared().open("/knowledge");
  await page.getByText("No documents yet.").waitFor();
  await page.locator('input[aria-label="Folder"]').setInputFiles(folder);
  await page.getByText("2 added, 1 skipped.").waitFor();
  await page.getByText("The type .psd is not read.").waitFor();
  await page.getByLabel("Question").fill("In which class do employees travel by train?");
  await button(page, "Ask").click();
  const card = page.getByRole("region", { name: "Answer" }).getByRole("listitem").first();
  const quote = await card.locator("mark").innerText();
  expect(quote).toBe("Employees travel by train in first class after four hours.");
  await card.getByRole("link", { name: "Travel" }).click();
  const marks = page.getByRole("region", { name: "Text", exact: true }).locator("mark");
  await marks.first().waitFor();
  expect((await marks.allInnerTexts()).join("")).toBe(quote);
  await expect.poll(() => marks.first().evaluate((mark) => mark.matches(":focus"))).toBe(true);
});

test("a repository is added as a source, refreshed and deleted, and its documents follow it", async () => {
  const { open, repositories } = shared();
  const repository = await Repository.create(repositories, "acme/rules");
  await repository.commitFiles({ "docs/leave.md": "# Leave\n\nLeave is 30 days.", "docs/scan.pdf": "no PDF" });
  const page = await open("/knowledge");
  await button(page, "Add source").click();
  const dialog = page.getByRole("dialog", { name: "Add a source" });
  await dialog.getByLabel("Source", { exact: true }).selectOption("Repository");
  await dialog.getByLabel("Repository", { exact: true }).fill("acme/rules");
  await dialog.getByLabel("Folder", { exact: true }).fill("docs");
  await dialog.getByRole("button", { name: "Add source" }).click();
  const sources = page.getByRole("table", { name: "Sources" });
  await sources.getByText("ready").waitFor();
  await button(page, "Show the files of acme/rules:docs that are not stored").click();
  await page.getByRole("dialog", { name: "1 file not stored" }).getByText("scan.pdf").waitFor();
  await page.keyboard.press("Escape");
  const documents = page.getByRole("table", { name: "Documents" });
  await documents.getByText("follows its source").waitFor();
  await repository.commitFiles({ "docs/leave.md": "# Parental leave\n\nLeave is 14 months." });
  await button(page, "Refresh acme/rules:docs").click();
  await documents.getByRole("link", { name: "Parental leave" }).waitFor();
  await confirm(page, "Delete acme/rules:docs", "Delete");
  await sources.waitFor({ state: "detached" });
  await documents.getByText("follows its source").waitFor({ state: "detached" });
});

test("a member is invited, joins, and loses access at once when they are removed", async () => {
  const { browser, open } = shared();
  const owner = await open("/settings/members");
  await fillIn(owner, { Email: "bob@example.com" });
  await button(owner, "Invite").click();
  const bob = await browser.open();
  await bob.goto(await readSecret(owner));
  await bob.getByRole("link", { name: "Sign up" }).click();
  await fillIn(bob, { Name: "Bob", Email: "bob@example.com", Password: PASSWORD });
  await button(bob, "Sign up").click();
  await button(bob, "Accept").click();
  await bob.getByRole("link", { name: "Knowledge", exact: true }).click();
  await bob
    .getByText("No documents yet.")
    .or(bob.getByRole("table", { name: "Documents" }))
    .waitFor();

  await owner.reload();
  await confirm(owner, "Remove Bob", "Remove");
  await button(owner, "Remove Bob").waitFor({ state: "detached" });
  // The open page notices it by itself.
  await bob.getByText("You are not a member of any organization.").waitFor();
  await bob.reload();
  await bob.getByText("You are not a member of any organization.").waitFor();
});

/** Calls the REST API as a shell script does, and returns the status and the body. */
async function callWithCurl(url: string, token: string): Promise<{ status: number; body: unknown }> {
  const options = ["--silent", "--header", `Authorization: Bearer ${token}`, "--write-out", "\n%{http_code}"];
  const { stdout } = await promisify(execFile)("curl", [...options, url]);
  const [status = "", ...lines] = stdout.split("\n").toReversed();
  return { status: Number(status), body: JSON.parse(lines.toReversed().join("\n")) };
}

test("an API key that is created on the page works with curl until it is revoked", async () => {
  const { service, open } = shared();
  const page = await open("/settings/tokens");
  const panel = page.getByRole("region", { name: "API keys", exact: true });
  await panel.getByLabel("Name", { exact: true }).fill("Backup");
  await panel.getByRole("button", { name: "Create API key" }).click();
  const url = `${service.publicUrl}/v1/apps`;
  const token = await readSecret(page);
  expect(await callWithCurl(url, token)).toMatchObject({ status: 200, body: { apps: expect.any(Array) } });
  await confirm(page, "Revoke Backup", "Revoke");
  await button(page, "Revoke Backup").waitFor({ state: "detached" });
  expect(await callWithCurl(url, token)).toMatchObject({ status: 401, body: { error: expect.any(String) } });
});
