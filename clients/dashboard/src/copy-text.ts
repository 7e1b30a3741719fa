/** Copies a text to the clipboard. */
export async function copyText(text: string): Promise<void> {
  // Browsers offer the clipboard only to pages with HTTPS or of this device. This service may have neither.
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  // A modal dialog makes everything outside of it inert.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
