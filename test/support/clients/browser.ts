import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { WAIT_LIMIT_MS } from "../time-limits.ts";

/** The first needs a third less CPU time: it has no user interface. */
const CHROMIUM_PATHS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const chromiumPath = CHROMIUM_PATHS.find((path) => existsSync(path));
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
];

/** Whether to skip browser tests because no browser is installed. CI never skips them. */
export const lacksBrowser = chromiumPath === undefined && !["1", "true"].includes(process.env["CI"] ?? "");
if (lacksBrowser)
  process.stderr.write(
    `NOT TESTED in a browser: there is no ${CHROMIUM_PATHS.join(" or ")}. Install it: SETUP_BROWSER=1 npm run setup\n`,
  );

export interface TestBrowser extends AsyncDisposable {
  /** Opens a page in a new browser context, which has its own cookies. Further pages of the context are watched too. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Errors that pages reported, including violations of their Content-Security-Policy. */
  problems: string[];
}

/** The browser of this process, which ends with it. Test files of one worker share it: a start takes 0.7 s of CPU time. */
let launched: Promise<Browser> | undefined;

export async function openBrowser(): Promise<TestBrowser> {
  launched ??= chromium.launch({ executablePath: chromiumPath ?? "/usr/bin/chromium", args: ARGUMENTS });
  const browser = await launched;
  const contexts = new AsyncDisposableStack();
  const problems: string[] = [];
  return {
    problems,
    async open(options = {}) {
      const context = contexts.use(await browser.newContext({ reducedMotion: "reduce", ...options }));
      context.setDefaultTimeout(WAIT_LIMIT_MS);
      context.on("weberror", (error) => problems.push(error.error().message));
      context.on("console", (message) => {
        // The browser also logs every HTTP error that a page handles.
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
          problems.push(message.text());
      });
      return context.newPage();
    },
    [Symbol.asyncDispose]: () => contexts.disposeAsync(),
  };
}

/** Opens the browser for all tests of a file. Each page has its own cookies. */
export function sharedBrowser(): () => TestBrowser {
  let browser: TestBrowser | undefined;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());
  return () => {
    if (browser === undefined) throw new Error("the browser of this file has not started");
    return browser;
  };
}

/**
 * Returns what of a page cannot be used by keyboard and with a screen reader: the rule of axe, and the elements.
 *
 * @param hasMenu - whether a menu is open, which is at the end of the document, outside of the regions of the page
 */
export async function findViolations(page: Page, hasMenu = false): Promise<string[]> {
  // Analyzing frames would need a page of another site.
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  // Base UI puts hidden elements around a menu, which get the focus and move it on.
  if (hasMenu) axe.exclude("[data-base-ui-focus-guard]").disableRules("region");
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** Asserts that a page can be used by keyboard and with a screen reader. */
export async function expectAccessible(page: Page): Promise<void> {
  const found = await findViolations(page);
  expect([await page.title(), ...found]).toEqual([await page.title()]);
}
