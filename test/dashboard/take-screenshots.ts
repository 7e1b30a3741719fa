/**
 * Takes the pictures of docs/dashboard.md and the README from a new installation with examples. Run it after a change of the
 * dashboard's look: `node test/dashboard/take-screenshots.ts`. It needs Chromium, which `SETUP_BROWSER=1 npm run setup` installs.
 */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { openBrowser } from "../support/clients/browser.ts";
import { fillIn, signUpFirstUser } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation } from "../support/service/service-process.ts";

const FOLDER = path.join(import.meta.dirname, "../../docs/images");
const VIEWPORT = { width: 1280, height: 800 };
const WAIT_MS = 120_000;

/** The pages, by the name of their picture. `:app` is the id of an app. */
const PAGES: Readonly<Record<string, string>> = {
  overview: "/",
  apps: "/apps",
  "new-app": "/apps/new",
  app: "/apps/:app",
  deployment: "/apps/:app/deployments/1",
  logs: "/apps/:app/logs",
  variables: "/apps/:app/variables",
  storage: "/apps/:app/storage",
  settings: "/apps/:app/settings",
  agents: "/agents",
  skills: "/skills",
  knowledge: "/knowledge",
  usage: "/usage",
  connect: "/connect",
  tokens: "/settings/tokens",
  members: "/settings/members",
};

/** Also in the dark theme. */
const DARK = ["apps", "deployment"];

const EXAMPLES = ["site", "tasks-api", "hello", "guestbook"];

await mkdir(FOLDER, { recursive: true });
await using installation = await createInstallation();
const { publicUrl } = await installation.start();
await using browser = await openBrowser();
const page = await signUpFirstUser({ browser, publicUrl });
await page.setViewportSize(VIEWPORT);
const appId = await deployExamples(page);
for (const [name, route] of Object.entries(PAGES)) {
  await page.goto(publicUrl + route.replace(":app", appId));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  await take(name);
  if (!DARK.includes(name)) continue;
  await page.emulateMedia({ colorScheme: "dark" });
  await take(`${name}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

/** @returns the id of the last app, which got some requests */
async function deployExamples(on: Page): Promise<string> {
  for (const name of EXAMPLES) {
    await on.goto(`${publicUrl}/apps/new`);
    await fillIn(on, { Repository: `examples/${name}` });
    await on.getByRole("button", { name: "Deploy", exact: true }).click();
    await on.locator("main header").getByText("ready", { exact: true }).waitFor({ timeout: WAIT_MS });
  }
  const url = (await on.getByRole("link", { name: "Open", exact: true }).getAttribute("href")) ?? "";
  const body = "name=Ada&message=Hello";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  for (let count = 0; count < 3; count++) await appRequest(url, { method: "POST", headers, body });
  return /\/apps\/([^/]+)\//.exec(on.url())?.[1] ?? "";
}

async function take(name: string): Promise<void> {
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`) });
  process.stdout.write(`${name}.png\n`);
}
