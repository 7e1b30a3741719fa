import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findViolations } from "../support/clients/browser.ts";
import { type Content, givenContent } from "./given-content.ts";
import { sharedInstallation } from "./shared-installation.ts";

const shared = sharedInstallation();
let content: Content;
let routes: string[];
beforeAll(async () => {
  content = await givenContent(shared());
  const page = await shared().open("/");
  // The list of the router itself, so that no page is forgotten.
  routes = await page.evaluate<string[]>("Object.keys(self.__TSR_ROUTER__.routesByPath)");
});

const THEMES = ["light", "dark"] as const;
const COMPUTER = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 740 };
/** What each page is looked at in: both themes, and on a phone, where the side bar is a menu. */
const VIEWS = [
  { name: "light", colorScheme: "light", viewport: COMPUTER },
  { name: "dark", colorScheme: "dark", viewport: COMPUTER },
  { name: "phone", colorScheme: "light", viewport: PHONE },
] as const;
/** About 40 pages, on a busy machine. */
const TIME_LIMIT_MS = 1_500_000;

/** The pages that a user sees without a session. The others redirect to them. */
const SIGNED_OUT = ["/sign-in", "/sign-up", "/invitations/$id"];

/** Fills in the parameters of a path with what was created. */
function urlOf(route: string): string {
  if (route === "/consent") return new URL(content.consentUrl).pathname + new URL(content.consentUrl).search;
  const parts = route.split("/").map((part, index, all) => {
    if (!part.startsWith("$")) return part;
    const value = content.parameters[all.slice(0, index + 1).join("/")];
    if (value === undefined) throw new Error(`Add a value for ${part} of the page ${route} to given-content.ts.`);
    return value;
  });
  return parts.join("/");
}

/** Opens a page by its URL, and returns what is wrong with it in each view. */
async function inspect(page: Page, url: string): Promise<string[]> {
  const response = await page.goto(new URL(url, shared().service.publicUrl).href);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  // What is folded is a part of the page too.
  await page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true");
  const found = response?.status() === 200 ? [] : [`status ${response?.status()}`];
  for (const { name, colorScheme, viewport } of VIEWS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    found.push(...(await findViolations(page)).map((violation) => `${name}: ${violation}`));
  }
  return found;
}

test(
  "every page opens by its URL, and is accessible in both themes and on a phone",
  async () => {
    const { open, browser } = shared();
    const signedIn = await open("/");
    const signedOut = await browser.open();
    const problems: Record<string, string[]> = {};
    for (const route of routes) {
      problems[route] = await inspect(signedIn, urlOf(route));
      if (SIGNED_OUT.includes(route)) problems[`${route} signed out`] = await inspect(signedOut, urlOf(route));
    }
    expect(routes.length).toBeGreaterThan(30);
    expect(Object.entries(problems).filter(([, found]) => found.length > 0)).toEqual([]);
    expect(browser.problems).toEqual([]);
  },
  TIME_LIMIT_MS,
);

test(
  "the menus, the dialogs and the page of an unknown URL are accessible in both themes",
  async () => {
    const { open, browser } = shared();
    const page = await open("/");
    const problems: string[] = [];
    const inspectOpened = async (name: string, hasMenu = false): Promise<void> => {
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        const found = await findViolations(page, hasMenu);
        problems.push(...found.map((violation) => `${name}, ${colorScheme}: ${violation}`));
      }
      await page.keyboard.press("Escape");
    };
    await page.getByRole("button", { name: /^Organization: / }).click();
    await page.getByRole("menu").waitFor();
    await inspectOpened("menu of organizations", true);
    await page.getByRole("button", { name: "Ada", exact: true }).click();
    await page.getByRole("menu").waitFor();
    await inspectOpened("menu of the user", true);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await inspectOpened("command menu");
    await page.goto(`${shared().service.publicUrl}${urlOf("/apps/$id")}`);
    await page.getByRole("button", { name: "Redeploy with…" }).click();
    await page.getByRole("dialog").waitFor();
    await inspectOpened("dialog");
    await page.setViewportSize(PHONE);
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await page.getByRole("dialog", { name: "Menu" }).waitFor();
    await inspectOpened("menu of a phone");
    await inspectOpened("page on a phone");
    await page.goto(`${shared().service.publicUrl}/nowhere`);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await inspectOpened("unknown URL");
    expect([problems, browser.problems]).toEqual([[], []]);
  },
  TIME_LIMIT_MS,
);
