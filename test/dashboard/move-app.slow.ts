import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { expectAccessible } from "../support/clients/browser.ts";
import { fillIn, waitForStatus } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { sharedInstallation } from "./shared-installation.ts";

const shared = sharedInstallation();
afterEach(() => {
  const { problems } = shared().browser;
  if (problems.length > 0) throw new Error(`A page has reported errors: ${problems.join("; ")}`);
});

/** Returns the number of rows in its database; a POST adds one. */
const COUNTER = {
  "wrangler.json": JSON.stringify({
    name: "counter",
    main: "index.js",
    compatibility_date: "2026-01-01",
    d1_databases: [{ binding: "DB", database_name: "counter", database_id: "counter" }],
  }),
  "migrations/1.sql": "CREATE TABLE requests (id INTEGER PRIMARY KEY);",
  "index.js": `export default { async fetch(request, { DB, GREETING = "no greeting" }) {
    if (request.method === "POST") await DB.prepare("INSERT INTO requests DEFAULT VALUES").run();
    return new Response(GREETING + " " + (await DB.prepare("SELECT count(*) AS count FROM requests").first("count")));
  } }`,
};

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Deploys the app on a page, and opens its settings. */
async function deployCounter(): Promise<{ page: Page; url: string }> {
  const { repositories, open } = shared();
  await (await Repository.create(repositories, "acme/counter")).commitFiles(COUNTER);
  const page = await open("/apps/new");
  await fillIn(page, { Repository: "acme/counter" });
  await page.getByText("The first build and the first start have them already").click();
  await fillIn(page, { "Text of a .env file": "GREETING=hello" });
  await page.getByLabel(/^Secrets: /).uncheck();
  await button(page, "Deploy").click();
  await waitForStatus(page, "ready");
  const url = await readUrl(page);
  await page.getByRole("link", { name: "Settings", exact: true }).first().click();
  await page.getByRole("region", { name: "Export" }).waitFor();
  return { page, url };
}

async function readUrl(page: Page): Promise<string> {
  return (await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href")) ?? "";
}

interface ExportFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

async function exportFromSettings(page: Page): Promise<ExportFile> {
  const downloading = page.waitForEvent("download");
  await button(page, "Export app").click();
  const download = await downloading;
  const buffer = await readFile(await download.path());
  return { name: download.suggestedFilename(), mimeType: "application/gzip", buffer };
}

async function chooseExport(page: Page, file: ExportFile): Promise<void> {
  await page.getByRole("link", { name: "Apps", exact: true }).click();
  await page.getByRole("link", { name: "New app" }).click();
  await button(page, "Export of an app").click();
  await page.getByLabel("Export", { exact: true }).setInputFiles(file);
}

test("an app is exported on its settings page, and imported with its data on the page New app", async () => {
  const { page, url } = await deployCounter();
  for (let n = 0; n < 3; n++) expect((await appRequest(url, { method: "POST" })).status).toBe(200);
  await expectAccessible(page);
  await page.getByLabel("With the values of variables that are not secret").check();
  const file = await exportFromSettings(page);
  expect(file.name).toMatch(/^counter-.*\.tar\.gz$/);

  await chooseExport(page, { ...file, buffer: file.buffer.subarray(0, file.buffer.length - 100) });
  await button(page, "Import").click();
  await page.getByRole("alert").getByText("file: the file ends too early. Send the whole file.").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Export", { exact: true }).setInputFiles(file);
  await page.getByLabel("Name", { exact: true }).fill("counter two");
  await button(page, "Import").click();
  await page.getByRole("region", { name: "Deployment #1" }).waitFor();
  await waitForStatus(page, "ready");
  const imported = await readUrl(page);
  expect(imported).not.toBe(url);
  expect((await appRequest(imported)).text).toBe("hello 3");
});

test("after a canceled export the next one is complete, and its import names the variables without values", async () => {
  const { page } = await deployCounter();
  // The response waits until the user has canceled.
  const { promise: canceled, resolve: cancel } = Promise.withResolvers<void>();
  await page.route("**/export", async (route) => {
    await canceled;
    await route.abort();
  });
  await button(page, "Export app").click();
  await page.getByText("Copying the data…").waitFor();
  await button(page, "Cancel").click();
  cancel();
  await page.getByText("Copying the data…").waitFor({ state: "detached" });
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.unroute("**/export");
  await chooseExport(page, await exportFromSettings(page));
  await button(page, "Import").click();
  await page.getByText("Its first deployment restores the data.").waitFor();
  await page.getByRole("region", { name: "Variables without values" }).getByText("GREETING").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Open the app" }).click();
  await waitForStatus(page, "ready");
  expect((await appRequest(await readUrl(page))).text).toBe("no greeting 0");
});
