import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { expectAccessible, lacksBrowser, sharedBrowser } from "../support/clients/browser.ts";
import { confirmInDialog, openAs } from "../support/clients/dashboard.ts";
import { zipArchive } from "../support/service/zip-archive.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";

const SAMPLE = path.resolve(import.meta.dirname, "../drivers/document-reader/samples/price-list.pdf");
/** Of a zip archive. */
const GUIDE = [
  { name: "guide/travel.md", content: "---\ntitle: How we travel\n---\n\nBook trains early." },
  { name: "guide/plan.psd", content: "8BPS" },
];
const { organization } = sharedOrganization();
const browser = sharedBrowser();

test.skipIf(lacksBrowser)(
  "a member uploads files, asks a question, changes a document, restores a version and deletes it",
  async () => {
    const { url, organizationId, member } = organization();
    const page = await openAs(browser(), member, `${url}/knowledge?org=${organizationId}`);
    await page.getByText("No documents yet.").waitFor();
    await expectAccessible(page);

    await page.getByLabel("Kind of the files").selectOption("Pricing");
    await page.locator('input[aria-label="Files"]').setInputFiles([
      { name: "price-list.pdf", mimeType: "application/pdf", buffer: await readFile(SAMPLE) },
      { name: "logo.svg", mimeType: "image/svg+xml", buffer: Buffer.from("a") },
      { name: "guide.zip", mimeType: "application/zip", buffer: zipArchive(GUIDE) },
    ]);
    await page.getByText("2 added, 2 skipped.").waitFor();
    await page.getByText("The type .svg is not read. Choose Markdown, text, HTML, PDF, Office,").waitFor();
    await page.getByText("guide/plan.psd").waitFor();
    await page.getByRole("link", { name: "How we travel" }).waitFor();
    await page.getByRole("link", { name: "Price list 2026" }).waitFor();

    await page.getByText("Write a document", { exact: true }).click();
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
    await page.getByText("Change the text", { exact: true }).click();
    await page.getByLabel("Text as Markdown").fill("Parking costs 5 euros.");
    await page.getByRole("button", { name: "Save as new version" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByText("3 (restored 1)").waitFor();
    const text = page.getByRole("region", { name: "Text", exact: true });
    await text.getByText("Parking is free.").waitFor();
    await page.getByRole("link", { name: "Read version 2" }).click();
    await text.getByText("This is version 2.").waitFor();
    await text.getByText("Parking costs 5 euros.").waitFor();
    await page.getByRole("button", { name: "Compare version 2" }).click();
    const difference = page.getByRole("textbox", { name: "Version 1 compared with 2", exact: true });
    await difference.getByText("Parking costs 5 euros.").waitFor();
    expect(await difference.locator(".cm-deletedLine").allInnerTexts()).toEqual(["Parking is free."]);
    await expectAccessible(page);

    await page.getByRole("link", { name: "All documents" }).click();
    await page.getByRole("button", { name: "Delete Parking" }).click();
    await confirmInDialog(page, "Delete", "Parking");
    await page.getByRole("link", { name: "Parking" }).waitFor({ state: "detached" });
    expect(browser().problems.filter((problem) => !problem.includes("400"))).toEqual([]);
  },
);
