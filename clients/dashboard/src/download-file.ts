/**
 * Lets the browser store a text as a file.
 *
 * @param content - the text, or its parts
 */
export function downloadFile(name: string, type: string, content: string | string[]): void {
  saveBlob(name, new Blob([content].flat(), { type }));
}

/** Lets the browser store a blob as a file. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
