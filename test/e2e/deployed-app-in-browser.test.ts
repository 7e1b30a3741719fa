import { expect, test } from "vitest";
import { lacksBrowser, openBrowser } from "../support/clients/browser.ts";
import { createInstallation } from "../support/service/service-process.ts";

test.skipIf(lacksBrowser)(
  "a browser opens the deployed guestbook at the URL of the deploy response, and adds an entry",
  async () => {
    await using installation = await createInstallation();
    const service = await installation.start();
    const { body } = await service.rest.deploy({ repo: "examples/guestbook" });
    for (let status = ""; status !== "ready";) {
      status = String((await service.rest.get(`/v1/apps/${String(body["app_id"])}`)).body["status"]);
      expect(status).not.toBe("failed");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await using browser = await openBrowser();
    const page = await browser.open();
    await page.goto(String(body["url"]));
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Message").fill("<b>Hello</b> from a browser");
    await page.getByRole("button").click();
    await page.getByText("<b>Hello</b> from a browser").waitFor();
    expect(browser.problems).toEqual([]);
    await page.context().close();
    expect(await service.end("SIGTERM")).toBe(0);
  },
);
