import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { openAs } from "../support/clients/dashboard.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const SAMPLE = path.resolve(import.meta.dirname, "../drivers/document-reader/samples/price-list.pdf");
const { organization } = sharedOrganization();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)(
  "a member uploads files, asks a question, changes a document, restores a version and deletes it",
  async () => {
    const { url, organizationId, member } = organization();
    const page = await openAs(browser(), member, `${url}/knowledge?org=${organizationId}`);
    await page.getByText("No documents yet.").waitFor();
    await expectAccessible(page);

    const upload = page.getByRole("form", { name: "Upload documents" });
    await upload.getByLabel("Kind", { exact: true }).selectOption("Pricing");
    await upload.getByLabel("Files").setInputFiles([
      { name: "price-list.pdf", mimeType: "application/pdf", buffer: await readFile(SAMPLE) },
      { name: "sales.xlsx", mimeType: "application/vnd.ms-excel", buffer: Buffer.from("a") },
    ]);
    await upload.getByRole("button", { name: "Upload" }).click();
    await page.getByText("1 added, 0 replaced, 0 unchanged, 1 not stored.").waitFor();
    await page.getByText(/sales\.xlsx: file: the file has the type \.xlsx/).waitFor();
    await page.getByRole("link", { name: "Price list 2026" }).waitFor();

    const write = page.getByRole("form", { name: "Write a document" });
    await write.getByLabel("Title").fill("Parking");
    await write.getByLabel("Text as Markdown").fill("Parking is free.");
    await write.getByRole("button", { name: "Add document" }).click();
    await page.getByRole("link", { name: "Parking" }).waitFor();

    await page.getByLabel("Question").fill("How much does the Team plan cost?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByRole("blockquote").getByText("The Team plan costs 49 euros per user and month.").waitFor();
    await expectAccessible(page);

    await page.getByRole("link", { name: "Parking" }).click();
    await page.getByRole("heading", { name: "Parking", exact: true }).waitFor();
    await page.getByLabel("Text as Markdown").fill("Parking costs 5 euros.");
    await page.getByRole("button", { name: "Save as new version" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByText("3 (restored 1)").waitFor();
    expect(await page.getByLabel("Text as Markdown").inputValue()).toBe("Parking is free.\n");
    await expectAccessible(page);

    await page.getByRole("link", { name: "All documents" }).click();
    await page.getByRole("button", { name: "Delete Parking" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: "Parking" }).waitFor({ state: "detached" });
    expect(browser().problems.filter((problem) => !problem.includes("400"))).toEqual([]);
  },
);
