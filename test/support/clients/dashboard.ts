import type { Page } from "playwright-core";
import { createHarness, type Harness } from "../service/harness.ts";
import { expectAccessible, openBrowser, type TestBrowser } from "./browser.ts";

export const PASSWORD = "correct horse battery";

export interface DashboardSetup {
  browser: TestBrowser;
  harness: Harness;
  publicUrl: string;
}

/** Starts a service without users, and a browser. */
export async function openDashboard(): Promise<DashboardSetup & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const harness = stack.use(await createHarness());
  const browser = stack.use(await openBrowser());
  const opened = stack.move();
  const { publicUrl } = harness.service;
  return { browser, harness, publicUrl, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Fills in fields by their labels. */
export async function fillIn(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
}

/** Signs up the first user and opens the start page. */
export async function signUpFirstUser({ browser, publicUrl }: DashboardSetup): Promise<Page> {
  const page = await browser.open();
  await page.goto(publicUrl);
  await page.getByRole("heading", { name: "Set up this service" }).waitFor();
  await expectAccessible(page);
  await fillIn(page, { Name: "Ada", Email: "ada@example.com", Password: PASSWORD });
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { name: "Apps", exact: true }).waitFor();
  return page;
}

/** Returns the secret that the page shows. */
export async function readSecret(page: Page): Promise<string> {
  return page.getByTestId("secret").innerText();
}
