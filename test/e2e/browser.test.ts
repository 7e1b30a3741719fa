import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { install } from "../support/service-process.ts";

const CHROMIUM = "/usr/bin/chromium";
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
];
const isMissing = !existsSync(CHROMIUM) && !["1", "true"].includes(process.env["CI"] ?? "");
if (isMissing)
  process.stderr.write(`NOT TESTED in a browser: there is no ${CHROMIUM}. Install it: SETUP_BROWSER=1 npm run setup\n`);

test.skipIf(isMissing)(
  "the guestbook opens in a browser at the URL that the deploy printed, and can be signed",
  { timeout: 120_000 },
  async () => {
    await using installation = await install();
    const service = await installation.start();
    const { body } = await service.rest.deploy({ repo: "examples/guestbook" });
    for (let status = ""; status !== "ready";) {
      status = String((await service.rest.get(`/v1/apps/${String(body["app_id"])}`)).body["status"]);
      expect(status).not.toBe("failed");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      await page.goto(String(body["url"]));
      await page.getByLabel("Name").fill("Ada");
      await page.getByLabel("Message").fill("<b>Hello</b> from a browser");
      await page.getByRole("button").click();
      await page.getByText("<b>Hello</b> from a browser").waitFor();
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
    expect(await service.end("SIGTERM")).toBe(0);
  },
);
