import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestUser } from "../identity/test-user.ts";
import { createHarness, type Harness } from "../service/harness.ts";
import { WAIT_LIMIT_MS } from "../time-limits.ts";
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

/** Opens a page in a new browser context, signed in as a user. */
export async function openAs(
  browser: TestBrowser,
  user: TestUser,
  url: string,
  options?: BrowserContextOptions,
): Promise<Page> {
  const page = await browser.open(options);
  await page.context().addCookies(user.browserCookies());
  await page.goto(url);
  return page;
}

/** Fills in fields by their labels. */
export async function fillIn(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
}

/** Signs up the first user and opens the start page. */
export async function signUpFirstUser({
  browser,
  publicUrl,
}: Pick<DashboardSetup, "browser" | "publicUrl">): Promise<Page> {
  const page = await browser.open();
  await page.goto(publicUrl);
  await page.getByRole("heading", { name: "Set up this service" }).waitFor();
  await expectAccessible(page);
  await fillIn(page, { Name: "Ada", Email: "ada@example.com", Password: PASSWORD });
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
  return page;
}

/** Creates a further organization on the account page, which opens its start page. Returns its id. */
export async function createOrganization(page: Page, name: string): Promise<string> {
  await page.getByRole("link", { name: "Account", exact: true }).click();
  await fillIn(page, { "Organization name": name });
  await page.getByRole("button", { name: "Create organization", exact: true }).click();
  await page.getByRole("button", { name: `Organization: ${name}`, exact: true }).waitFor();
  return readOrganizationId(page);
}

/** Selects an organization, and waits until its page has replaced the page of the previous one. */
export async function selectOrganization(page: Page, id: string): Promise<void> {
  await page.getByRole("button", { name: /^Organization: / }).click();
  await page.locator(`[role="menuitemradio"][data-value="${id}"]`).click();
  // The URL changes earlier. What is entered until then belongs to the previous page, and is discarded with it.
  await page.locator(`button[data-organization="${id}"]`).waitFor();
}

/** Waits until the newest deployment of the app on the page has a status. */
export async function waitForStatus(page: Page, status: string): Promise<void> {
  await page.locator("main header").getByText(status, { exact: true }).waitFor({ timeout: WAIT_LIMIT_MS });
}

/** Confirms in the dialog of a page, after its text was typed if it requires one. */
export async function confirmInDialog(page: Page, label: string, typed?: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  const button = dialog.getByRole("button", { name: label, exact: true });
  if (typed !== undefined) {
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel(`Type ${typed} to confirm`, { exact: true }).fill(typed);
  }
  await button.click();
}

/** Signs the user of a page out. */
export async function signOut(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
}

/** Returns the id of the organization in the URL of the page. */
export function readOrganizationId(page: Page): string {
  return new URL(page.url()).searchParams.get("org") ?? "";
}

/** Returns the secret that the page shows. */
export async function readSecret(page: Page): Promise<string> {
  return page.getByTestId("secret").innerText();
}
