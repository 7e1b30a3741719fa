import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const CHROMIUM = "/usr/bin/chromium";
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
];

/** Whether there is no browser to test with; never where the tests have to be complete. */
export const lacksBrowser = !existsSync(CHROMIUM) && !["1", "true"].includes(process.env["CI"] ?? "");
if (lacksBrowser)
  process.stderr.write(`NOT TESTED in a browser: there is no ${CHROMIUM}. Install it: SETUP_BROWSER=1 npm run setup\n`);

export interface TestBrowser extends AsyncDisposable {
  /** A window of somebody else: with cookies of its own. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** What pages complained about, their Content-Security-Policy included. */
  problems: string[];
}

export async function openBrowser(): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  const problems: string[] = [];
  return {
    problems,
    async open(options = {}) {
      const context = await browser.newContext({ reducedMotion: "reduce", ...options });
      const page = await context.newPage();
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => {
        // A refusal that the page shows is a line in the console as well.
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
          problems.push(message.text());
      });
      return page;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Holds that nothing on a page keeps people from using it by keyboard or screen reader. */
export async function expectAccessible(page: Page): Promise<void> {
  // Its own frames would need a page of another site.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  expect([await page.title(), ...found]).toEqual([await page.title()]);
}
