/**
 * Lets the browser store a text as a file.
 *
 * @param content - the text, or its parts
 */
export function downloadFile(name: string, type: string, content: string | string[]): void {
  const url = URL.createObjectURL(new Blob([content].flat(), { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
