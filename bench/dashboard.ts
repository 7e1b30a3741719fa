import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type BenchContext, formatInteger, type Section } from "./support/bench-section.ts";
import { startService } from "./support/start-servers.ts";
import { median } from "./support/statistics.ts";

const APPS = 10_000;
const ROUNDS = 5;
/** Chrome's presets "fast 3G" and a processor that is four times as slow. */
const FAST_3G = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 };
const SLOWDOWN = 4;
const TARGETS = {
  kilobytes: 130,
  loopbackMs: 500,
  slowMs: 2_500,
  taskMs: 50,
  referenceKilobytes: 150,
  referenceMs: 1_500,
};
const PASSWORD = "correct horse battery";

export const dashboard: Section = {
  name: "dashboard",
  title: "Dashboard",
  method: `The page Apps in a headless Chromium, by a user who is signed in, with an empty cache: from the start of the navigation until its heading is shown and the button "New app" can be clicked, the median of ${ROUNDS} loads. "Slow" is Chrome's fast 3G with a processor that is ${SLOWDOWN} times as slow. Then the page scrolls through ${formatInteger(APPS)} apps; a task is the time in which the page could not respond. \`/docs\`, slow: from the start of the navigation until its first operation is shown.`,
  async measure({ folder, signal, log }: BenchContext) {
    await using service = await startService({ dataDirectory: folder }, signal);
    const browser = await chromium.launch({
      executablePath: "/usr/bin/chromium-headless-shell",
      args: ["--no-sandbox"],
    });
    try {
      const url = await service.call("publicUrl");
      const signedIn = await signUp(await browser.newContext(), url);
      const kilobytes = (await countScriptBytes(await openContext(signedIn), url)) / 1000;
      const loopback = await measureLoads(signedIn, { url, isSlow: false });
      const slow = await measureLoads(signedIn, { url, isSlow: true });
      log(`loads: ${loopback.map(Math.round).join(", ")} ms, slow: ${slow.map(Math.round).join(", ")} ms`);
      await service.call("insertAppRows", signedIn.organizationId, APPS);
      const task = await measureScrolling(await openContext(signedIn), url);
      const reference = await measureReference(browser, url);
      log(`reference: ${reference.times.map(Math.round).join(", ")} ms`);
      return {
        metrics: [...toMetrics(kilobytes, median(loopback), median(slow), task), ...toReferenceMetrics(reference)],
        notes: [],
      };
    } finally {
      await browser.close();
    }
  },
};

function row(name: string, value: number, unit: string, bound: number) {
  return {
    name,
    result: `${formatInteger(value)} ${unit}`,
    target: { bound: `≤ ${formatInteger(bound)} ${unit}`, met: value <= bound },
    details: "",
  };
}

function toReferenceMetrics({ bytes, times }: ReferenceLoads) {
  return [
    row("`/docs`, compressed with brotli", bytes / 1000, "kB", TARGETS.referenceKilobytes),
    row("First operation of `/docs`, slow", median(times), "ms", TARGETS.referenceMs),
  ];
}

function toMetrics(kilobytes: number, loopbackMs: number, slowMs: number, taskMs: number) {
  return [
    row("JavaScript of the first load, compressed with brotli", kilobytes, "kB", TARGETS.kilobytes),
    row("Usable on loopback", loopbackMs, "ms", TARGETS.loopbackMs),
    row("Usable, slow", slowMs, "ms", TARGETS.slowMs),
    row(`Longest task while scrolling ${formatInteger(APPS)} apps`, taskMs, "ms", TARGETS.taskMs),
  ];
}

interface SignedIn {
  context: BrowserContext;
  organizationId: string;
}

/** Signs up the first user and creates an organization. */
async function signUp(context: BrowserContext, url: string): Promise<SignedIn> {
  const page = await context.newPage();
  await page.goto(url);
  for (const [label, value] of Object.entries({ Name: "Ada", Email: "ada@example.com", Password: PASSWORD }))
    await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole("button", { name: "Set up" }).click();
  const hasOrganization = page.waitForURL(({ searchParams }) => searchParams.has("org"));
  const field = page.getByLabel("Organization name", { exact: true });
  await Promise.race([hasOrganization, field.waitFor()]);
  if (await field.isVisible()) {
    await field.fill("Acme");
    await page.getByRole("button", { name: "Create organization", exact: true }).click();
  }
  await hasOrganization;
  return { context, organizationId: new URL(page.url()).searchParams.get("org") ?? "" };
}

/** Opens a context with the session, but with an empty cache. */
async function openContext({ context }: SignedIn): Promise<BrowserContext> {
  const browser = context.browser();
  if (browser === null) throw new Error("The browser has ended.");
  return browser.newContext({ storageState: await context.storageState() });
}

async function countScriptBytes(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  let bytes = 0;
  page.on("requestfinished", (request) => {
    if (request.resourceType() === "script") void request.sizes().then((sizes) => (bytes += sizes.responseBodySize));
  });
  await page.goto(`${url}/apps`, { waitUntil: "commit" });
  // Without a pointer on a link, which would load the page behind it.
  await page.getByRole("link", { name: "New app" }).waitFor();
  await page.waitForTimeout(1_000);
  await context.close();
  return bytes;
}

async function measureLoads(signedIn: SignedIn, { url, isSlow }: { url: string; isSlow: boolean }): Promise<number[]> {
  const times: number[] = [];
  while (times.length < ROUNDS) {
    const context = await openContext(signedIn);
    const page = await context.newPage();
    await page.addInitScript(OBSERVE_FIRST_VIEW);
    if (isSlow) await slowDown(page);
    await openApps(page, url);
    times.push(await page.evaluate<number>("window.firstView"));
    await context.close();
  }
  return times;
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", FAST_3G);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
}

interface ReferenceLoads {
  /** Of the page and all that it loads. */
  bytes: number;
  times: number[];
}

async function measureReference(browser: Browser, url: string): Promise<ReferenceLoads> {
  const times: number[] = [];
  let bytes = 0;
  while (times.length < ROUNDS) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await slowDown(page);
    const sizes: Promise<number>[] = [];
    page.on("requestfinished", (request) => sizes.push(request.sizes().then((size) => size.responseBodySize)));
    const start = performance.now();
    await page.goto(`${url}/docs`, { waitUntil: "commit" });
    await page.locator("article h3").first().waitFor();
    times.push(performance.now() - start);
    await page.waitForLoadState();
    bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    await context.close();
  }
  return { bytes, times };
}

/** Runs in the page. Playwright itself looks for elements up to half a second apart, which is too seldom for a measurement. */
const OBSERVE_FIRST_VIEW = `window.firstView = new Promise((resolve) => {
  const isShown = () => document.querySelector("h1")?.textContent === "Apps" && document.querySelector('main a[href^="/apps/new"]') !== null;
  const observer = new MutationObserver(() => {
    if (!isShown()) return;
    observer.disconnect();
    // In a task after the frame that shows them, in which the page can respond.
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  });
  observer.observe(document, { subtree: true, childList: true });
});`;

async function openApps(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/apps`, { waitUntil: "commit" });
  await page.getByRole("heading", { name: "Apps", level: 1 }).waitFor();
  await page.getByRole("link", { name: "New app" }).click({ trial: true });
}

/** Runs in the page. */
const OBSERVE_TASKS = `window.longestTask = 0; new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longestTask = Math.max(window.longestTask, duration);
}).observe({ type: "longtask" });`;

/** @returns the longest task in milliseconds; 0 if all were shorter than 50 ms, which browsers do not report */
async function measureScrolling(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  await openApps(page, url);
  await page.getByText(`${APPS.toLocaleString("en")} apps`).waitFor();
  await page.waitForTimeout(2_000);
  await page.evaluate(OBSERVE_TASKS);
  for (let step = 0; step < 120; step++) {
    await page.mouse.wheel(0, 3_000);
    await page.waitForTimeout(16);
  }
  const longest = await page.evaluate<number>("window.longestTask");
  await context.close();
  return longest;
}
