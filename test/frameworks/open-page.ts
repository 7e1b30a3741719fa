import type { Page, Response } from "playwright-core";
import type { TestBrowser } from "../support/clients/browser.ts";

const LOAD_TIMEOUT_MS = 30_000;
/** How long a page may take to show its text after it has loaded. */
const TEXT_TIMEOUT_MS = 10_000;
const MAX_NOTES = 3;

export interface OpenedPage {
  /** Why the app does not work; `null` if it works. */
  failure: string | null;
  /** What else the browser reported, such as errors of scripts. */
  notes: string[];
}

/**
 * Opens a page of an app in Chromium. The app works if the page has a status of 2xx, if its scripts and styles load, if the text
 * appears, and if the page is not empty. Requests to other hosts are aborted, so that the result does not depend on them.
 *
 * @param text - text that the page or its title has
 * @param markup - text that the page's HTML has, instead
 */
export async function openPage(
  browser: TestBrowser,
  url: string,
  expected: { text: string } | { markup: string },
): Promise<OpenedPage> {
  const page = await browser.open({ ignoreHTTPSErrors: true });
  const observed = observe(page, new URL(url).origin);
  await page.route(
    (target) => target.origin !== new URL(url).origin && target.protocol.startsWith("http"),
    (route) => route.abort(),
  );
  try {
    const response = await page.goto(url, { timeout: LOAD_TIMEOUT_MS, waitUntil: "load" });
    const absent = (await findText(page, expected)) ?? (await describeEmptyPage(page));
    const failure = findFailure(response, observed.missing, absent);
    return { failure, notes: [...observed.failed, ...observed.errors].slice(0, MAX_NOTES) };
  } catch (error) {
    return { failure: `The page did not load: ${(error as Error).message.split("\n", 1)[0]}`, notes: observed.errors };
  } finally {
    await page.context().close();
  }
}

/** Scripts for analytics that Vercel serves beside an app. On another host they do not exist, and the app works. */
const SCRIPTS_OF_VERCEL = /^\/_vercel\/(speed-)?insights\//;

interface Observed {
  /** Scripts and styles of the app that did not load. */
  missing: string[];
  /** Other requests to the app that failed. */
  failed: string[];
  errors: string[];
}

function observe(page: Page, origin: string): Observed {
  const observed: Observed = { missing: [], failed: [], errors: [] };
  const report = (response: Pick<Response, "url" | "request">, problem: string) => {
    const { pathname } = new URL(response.url());
    const isPart =
      ["script", "stylesheet"].includes(response.request().resourceType()) && !SCRIPTS_OF_VERCEL.test(pathname);
    (isPart ? observed.missing : observed.failed).push(`${pathname}: ${problem}`);
  };
  page.on("response", (response) => {
    if (!response.url().startsWith(origin) || response.request().isNavigationRequest()) return;
    if (response.status() >= 400) report(response, String(response.status()));
    else if (response.request().resourceType() === "script" && /html/.test(response.headers()["content-type"] ?? ""))
      report(response, "a page instead of a script");
  });
  page.on("pageerror", (error) => observed.errors.push(error.message));
  return observed;
}

async function findText(page: Page, expected: { text: string } | { markup: string }): Promise<string | null> {
  const read = async () => {
    if ("markup" in expected) return page.content();
    const visible = await page.locator("body").innerText();
    return `${await page.title()} ${visible} ${visible.replaceAll(/\s+/g, " ")}`;
  };
  const wanted = "markup" in expected ? expected.markup : expected.text;
  const end = performance.now() + TEXT_TIMEOUT_MS;
  let text = await read();
  while (!text.includes(wanted) && performance.now() < end) {
    await page.waitForTimeout(250);
    text = await read();
  }
  return text.includes(wanted) ? null : `The page has no "${wanted}": ${text.replaceAll(/\s+/g, " ").slice(0, 200)}`;
}

/**
 * A page without text can show a picture or a form, or have its text in a shadow root. The text that was found can be that of its title.
 */
async function describeEmptyPage(page: Page): Promise<string | null> {
  const isEmpty = async () =>
    (await page.locator("body").innerText()).trim() === "" &&
    (await page.locator("img, svg, canvas, video, input").count()) === 0 &&
    // Selectors look into shadow roots.
    (await page.locator("h1, h2, p, a, button, li").filter({ hasText: /\S/ }).count()) === 0;
  const end = performance.now() + TEXT_TIMEOUT_MS;
  while (await isEmpty()) {
    if (performance.now() > end) return `The page "${await page.title()}" is empty.`;
    await page.waitForTimeout(250);
  }
  return null;
}

function findFailure(response: Response | null, missing: readonly string[], absent: string | null): string | null {
  const status = response?.status() ?? 0;
  if (status < 200 || status > 299) return `The app responded with ${status}. ${absent ?? ""}`;
  if (missing.length > 0) return `Scripts or styles did not load: ${missing.slice(0, MAX_NOTES).join(", ")}`;
  return absent;
}
