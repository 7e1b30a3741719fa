import type { Locator, Page } from "playwright-core";

/** The editor of the instructions of an agent, when it is ready. */
export function instructionsEditor(page: Page): Locator {
  return page.getByRole("textbox", { name: "Instructions", exact: true });
}

/** Replaces the text of an editor, as a user does it. */
export async function replaceText(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

/** The text of an editor. */
export async function readEditor(editor: Locator): Promise<string> {
  const lines = await editor.locator(".cm-line").allInnerTexts();
  // The element of an empty line contains a line break.
  return lines.map((line) => line.replace(/\n$/, "")).join("\n");
}

/** Saves the instructions after the review of the changes. */
export async function saveInstructions(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Review changes" }).click();
  await page.getByRole("button", { name: "Save instructions" }).click();
}
