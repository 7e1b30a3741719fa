import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { deploymentLogKey, LOG_BUCKET } from "../../domain/apps/app-resources.ts";
import type { App } from "../../domain/apps/app.entity.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { givenLiveApp } from "../support/edge/live-app.ts";
import { signUpOwner } from "../support/identity/organization-members.ts";
import type { TestUser } from "../support/identity/test-user.ts";
import { givenSecondDeployment } from "../support/service/given-app.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ worker: true });
const browser = sharedBrowser();
let tenant: Tenant;
let owner: TestUser;

beforeAll(async () => {
  tenant = await service().tenant();
  owner = await signUpOwner(service(), tenant);
});

async function openPage(path: string, query = ""): Promise<Page> {
  const url = `${service().service.publicUrl}${path}?org=${tenant.org_id}${query}`;
  const page = await openAs(browser(), owner, url, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

/** Writes the log of the first deployment of an app, as its worker does. */
async function writeLog({ id }: App, lines: readonly string[]): Promise<void> {
  const body = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  await service().service.parts.deploymentDeps.objects.put(LOG_BUCKET, deploymentLogKey(id, 1), body);
}

const numbered = (count: number, prefix = "line") => Array.from({ length: count }, (_, n) => `${prefix} ${n + 1}`);

const logOf = (page: Page) => page.getByRole("log");

/** The lines in the document. */
const renderedLines = (page: Page): Promise<number> => logOf(page).locator("[data-index]").count();

test.skipIf(lacksBrowser)(
  "the page of a running deployment shows a line when it is written, and follows until the user scrolls up",
  async () => {
    const app = await service().givenApp(tenant, { status: "building" });
    await writeLog(app, numbered(200));
    const page = await openPage(`/apps/${app.id}/deployments/1`);
    const line = (n: number) => logOf(page).getByText(`line ${n}`, { exact: true });
    await line(200).waitFor();
    await expectAccessible(page);
    await writeLog(app, numbered(201));
    await line(201).waitFor();
    await logOf(page).press("Home");
    await line(1).waitFor();
    await page.getByRole("button", { name: "Jump to end" }).waitFor();
    await writeLog(app, numbered(204));
    const jump = page.getByRole("button", { name: "Jump to end 3 new" });
    await jump.waitFor();
    await expectAccessible(page);
    expect([await line(1).isVisible(), await line(204).count()]).toEqual([true, 0]);
    await jump.click();
    await line(204).waitFor();
    await jump.waitFor({ state: "detached" });
    await writeLog(app, numbered(300));
    await line(300).waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "of a log of 100,000 lines, only the lines on the screen are in the document, and the search finds the others",
  async () => {
    const app = await service().givenApp(tenant, { status: "failed" });
    await writeLog(app, numbered(100_000, "n"));
    const page = await openPage(`/apps/${app.id}/deployments/1`);
    const line = (n: number) => logOf(page).getByText(`n ${n}`, { exact: true });
    await line(100_000).waitFor();
    expect(await renderedLines(page)).toBeLessThan(150);
    await page.getByRole("searchbox", { name: "Search the log" }).fill("N 5000");
    await page.getByText("11", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("1 of 11", { exact: true }).waitFor();
    await logOf(page).locator("[data-current] mark").getByText("n 5000", { exact: true }).waitFor();
    expect(await renderedLines(page)).toBeLessThan(150);
    await page.getByRole("button", { name: "Next match" }).click();
    await logOf(page).locator("[data-current]").getByText("n 50000", { exact: true }).waitFor();
    await page.getByText("2 of 11", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Previous match" }).click();
    await page.getByText("1 of 11", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Wrap lines" }).click();
    await line(5000).waitFor();
    await page.getByRole("button", { name: "Copy all lines" }).click();
    await page.getByText("Copied 100,000 lines.").waitFor();
    const copied: string = await page.evaluate("navigator.clipboard.readText()");
    expect(copied.split("\n").slice(0, 2)).toEqual(["n 1", "n 2"]);
    expect(copied.length).toBe(numbered(100_000, "n").join("\n").length + 1);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the log" }).click();
    expect((await download).suggestedFilename()).toBe("deployment-1.log");
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)(
  "a log shows colors as colors and markup as text, and a selection contains only the text of the lines",
  async () => {
    const app = await service().givenApp(tenant, { status: "failed" });
    const esc = "\u001b";
    const colored = `${esc}[1;31merror${esc}[0m: ${esc}[38;5;208mcannot${esc}[39m ${esc}[2Kresolve${esc}]0;title\u0007 "x"`;
    await writeLog(app, [colored, "<img src=x onerror=alert(1)>", "\t[tab] stays"]);
    const page = await openPage(`/apps/${app.id}/deployments/1`);
    const red = logOf(page).getByText("error", { exact: true });
    await red.waitFor();
    expect(await red.getAttribute("class")).toBe("text-danger font-semibold");
    await expectAccessible(page);
    await logOf(page).press("Control+f");
    expect(await page.getByRole("searchbox").evaluate((element) => element.matches(":focus"))).toBe(true);
    await logOf(page).focus();
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('[role=log]'))");
    const selected: string = await page.evaluate("getSelection().toString()");
    expect(selected.split("\n").filter((line) => line !== "")).toEqual([
      'error: cannot resolve "x"',
      "<img src=x onerror=alert(1)>",
      "\t[tab] stays",
    ]);
    expect(browser().problems).toEqual([]);
  },
);

const SCRIPT = `export default { fetch(request) {
  for (const [level, message] of new URL(request.url).searchParams) console[level](message);
  return new Response("ok");
} };`;

test.skipIf(lacksBrowser)(
  "the Logs tab shows what an app prints, by level and by request, and a deployment that has started meanwhile",
  async () => {
    const app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [] });
    const url = service().service.parts.service.urlOf(app.slug);
    const print = async (...messages: [level: string, message: string][]): Promise<void> => {
      await appRequest(`${url}/?${String(new URLSearchParams(messages))}`);
    };
    const page = await openPage(`/apps/${app.id}/logs`);
    const message = (text: string) => logOf(page).getByText(text, { exact: true });
    await page.getByText("No output yet. The app's console.log appears here.").waitFor();
    await expectAccessible(page);
    await print(["log", "<b>first</b>"], ["warn", "careful"]);
    await message("<b>first</b>").waitFor();
    await print(["error", "broken\n  at some place"]);
    await message("broken at some place").waitFor();
    await expectAccessible(page);
    await page
      .getByRole("button", { name: /^Show only request/ })
      .last()
      .click();
    await message("careful").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Show all requests" }).click();
    await message("careful").waitFor();
    await page.getByRole("combobox", { name: "Level" }).selectOption("Warnings and errors");
    await message("<b>first</b>").waitFor({ state: "detached" });
    await message("careful").waitFor();
    await print(["info", "too low"], ["error", "again"]);
    await message("again").waitFor();
    expect(await message("too low").count()).toBe(0);
    await page.reload();
    await message("again").waitFor();
    expect(await page.getByRole("combobox", { name: "Level" }).inputValue()).toBe("warn");
    await givenSecondDeployment(service().service.parts.orm.em.fork(), app, "queued");
    await page.getByRole("link", { name: "Deployment #2 is running" }).waitFor();
    await page.getByRole("button", { name: "Newest build" }).click();
    await page.getByText("No output yet. The log appears here as the deployment writes it.").waitFor();
    await page.getByRole("link", { name: "deployment #2" }).click();
    await page.getByRole("heading", { name: "Deployment #2" }).waitFor();
    expect(browser().problems).toEqual([]);
  },
);

test.skipIf(lacksBrowser)("the Logs tab loads older messages when the user scrolls to the first one", async () => {
  const app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [] });
  const url = service().service.parts.service.urlOf(app.slug);
  for (const batch of ["a", "b", "c"]) {
    const messages = numbered(150, batch).map((text): [string, string] => ["log", text]);
    await appRequest(`${url}/?${String(new URLSearchParams(messages))}`);
  }
  // The page loads what is stored when it opens, and gets later messages as a stream.
  await waitFor(async () => {
    const { body } = await tenant.rest.get(`/v1/apps/${app.id}/runtime-logs?limit=1`);
    expect(body["logs"]).toMatchObject([{ message: "c 150" }]);
  });
  const page = await openPage(`/apps/${app.id}/logs`, "&range=1d");
  const message = (text: string) => logOf(page).getByText(text, { exact: true });
  await message("c 150").waitFor();
  const button = page.getByRole("button", { name: "Load older messages" });
  await button.waitFor();
  await waitFor(async () => {
    await logOf(page).press("Home");
    expect(await button.count()).toBe(0);
  });
  await logOf(page).press("Home");
  await message("a 1").waitFor();
  await page.getByRole("button", { name: "Copy all lines" }).click();
  await page.getByText("Copied 450 lines.").waitFor();
  const copied: string = await page.evaluate("navigator.clipboard.readText()");
  const texts = copied
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(-5).trim());
  expect(texts).toEqual(["a", "b", "c"].flatMap((batch) => numbered(150, batch)).map((line) => line.slice(-5)));
});
