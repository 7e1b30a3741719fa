import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { readSecret, signUpFirstUser, waitForStatus } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const browser = sharedBrowser();
const TIME_LIMIT_MS = 300_000;

test.skipIf(lacksBrowser)(
  "with the page alone, a new user comes from an empty installation to a deployed app and a connected agent",
  async () => {
    await using installation = await createInstallation();
    const { publicUrl } = await installation.start();
    const page = await signUpFirstUser({ browser: browser(), publicUrl });
    await page.getByRole("button", { name: "Deploy the guestbook" }).click();
    await page.getByRole("heading", { name: "guestbook" }).waitFor();
    await waitForStatus(page, "ready");
    await expectAccessible(page);
    const url = await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href");
    expect((await appRequest(url ?? "")).text).toContain("Guestbook");

    await page.getByRole("link", { name: "Connect", exact: true }).click();
    await page.getByRole("link", { name: "Claude Code" }).click();
    await page.getByRole("button", { name: "Create a token for Claude Code" }).click();
    const token = await readSecret(page);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText(/^Connected: \d+ tools/).waitFor();
    const client = new Client({ name: "agent", version: "1.0.0" });
    const headers = { authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), { requestInit: { headers } }));
    const { structuredContent } = await client.callTool({ name: "service_list_apps", arguments: {} });
    expect(structuredContent).toMatchObject({ apps: [{ name: "guestbook", status: "ready" }] });
    await client.close();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByText("2 of 3 done").waitFor();
    expect(browser().problems).toEqual([]);
  },
  TIME_LIMIT_MS,
);

test.skipIf(lacksBrowser)(
  "a deployment fails with a reason, is fixed, deployed again and rolled back, with the page alone",
  async () => {
    await using folder = await temporaryFolder();
    const repository = await Repository.create(folder.path, "acme/shop");
    const say = (text: string) => repository.commitFiles({ "index.html": `<!doctype html><title>${text}</title>` });
    await repository.commitFiles({
      "package.json": JSON.stringify({ scripts: { build: "echo no-such-tool; exit 3" } }),
    });
    await using installation = await createInstallation();
    const { publicUrl } = await installation.start({ GIT_BASE_URL: `file://${folder.path}` });
    const page = await signUpFirstUser({ browser: browser(), publicUrl });
    await page.getByRole("link", { name: "Apps", exact: true }).click();
    await page.getByRole("link", { name: "New app" }).click();
    await page.getByLabel("Repository", { exact: true }).fill("acme/shop");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await waitForStatus(page, "failed");
    await page.getByText("The build failed with exit code 3: no-such-tool", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Build log" }).getByText("no-such-tool").first().waitFor();
    await expectAccessible(page);

    for (const text of ["First", "Second"]) {
      await say(text);
      await page.getByRole("button", { name: "Redeploy", exact: true }).click();
      await page.getByRole("region", { name: text === "First" ? "Deployment #2" : "Deployment #3" }).waitFor();
      await waitForStatus(page, "ready");
    }
    const url = (await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href")) ?? "";
    expect((await appRequest(url)).text).toContain("Second");
    await page.getByRole("link", { name: "All deployments" }).click();
    await page.getByRole("button", { name: "Roll back to #2" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByRole("region", { name: "Deployment #4" }).getByText("live", { exact: true }).waitFor();
    expect((await appRequest(url)).text).toContain("First");
    expect(browser().problems).toEqual([]);
  },
  TIME_LIMIT_MS,
);
