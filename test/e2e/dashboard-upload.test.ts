import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { signUpFirstUser, waitForStatus } from "../support/clients/dashboard.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const browser = sharedBrowser();
const TIME_LIMIT_MS = 300_000;

/** The page of the app lists the files of its source. */
const LIST_FILES = "#!/bin/sh\nmkdir dist\nfind . -type f -not -path './dist/*' | sort > dist/index.html\n";

const FILES = {
  "package.json": JSON.stringify({ scripts: { build: "./build.sh" } }),
  "build.sh": LIST_FILES,
  "src/a.txt": "a",
  "src/.gitignore": "*.log\n!kept.log\n",
  "src/debug.log": "noise",
  "src/kept.log": "kept",
  ".gitignore": "tmp/\n",
  "tmp/cache.bin": "cache",
  ".env": "PASSWORD=1",
  ".env.example": "PASSWORD=",
  "node_modules/left-pad/index.js": "",
  ".git/config": "[core]",
};

async function writeFolder(folder: string): Promise<void> {
  for (const [file, content] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  }
}

test.skipIf(lacksBrowser)(
  "a folder is deployed from the page as svc deploy would, and a zip archive of the next version replaces it",
  async () => {
    await using folder = await temporaryFolder();
    await writeFolder(path.join(folder.path, "shop"));
    await using installation = await createInstallation();
    const { publicUrl } = await installation.start();
    const page = await signUpFirstUser({ browser: browser(), publicUrl });
    await page.getByRole("link", { name: "Apps", exact: true }).click();
    await page.getByRole("link", { name: "New app" }).click();
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await page.getByLabel("Archive").setInputFiles({ name: "notes.zip", mimeType: "", buffer: Buffer.from("no zip") });
    await page.getByRole("alert").getByText("notes.zip is not a zip archive, or it is damaged.").waitFor();
    expect(await page.getByRole("button", { name: "Deploy", exact: true }).isDisabled()).toBe(true);

    await page.getByLabel("Folder", { exact: true }).setInputFiles(path.join(folder.path, "shop"));
    await page.getByText("shop: 7 files").waitFor();
    await page.getByText("Left out, because they contain secrets: .env.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await waitForStatus(page, "ready");
    const url = (await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href")) ?? "";
    expect((await appRequest(url)).text.trim().split("\n")).toEqual(
      [".env.example", ".gitignore", "build.sh", "package.json", "src/.gitignore", "src/a.txt", "src/kept.log"]
        .map((file) => `./${file}`)
        .toSorted(),
    );

    const next = { "shop-2/index.html": strToU8("<!doctype html><title>Next</title>") };
    await page.getByRole("button", { name: "Upload…" }).click();
    const dialog = page.getByRole("dialog", { name: "Upload a new version" });
    const archive = { name: "shop-2.zip", mimeType: "application/zip", buffer: Buffer.from(zipSync(next)) };
    await dialog.getByLabel("Archive").setInputFiles(archive);
    await dialog.getByText("shop-2: 1 file").waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Deploy" }).click();
    await page.getByRole("region", { name: "Deployment #2" }).waitFor();
    await waitForStatus(page, "ready");
    expect((await appRequest(url)).text).toContain("<title>Next</title>");
    expect(browser().problems).toEqual([]);
  },
  TIME_LIMIT_MS,
);
