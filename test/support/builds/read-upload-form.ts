import { readFile } from "node:fs/promises";

export interface UploadForm {
  metadata: { main_module: string; compatibility_date: string; bindings: { type: string; name: string }[] };
  /** The text of every module, by its name. */
  modules: Record<string, string>;
  /** The text of the main module. */
  main: string;
}

/** Reads the upload form that a bundler wrote. */
export async function readUploadForm(file: string): Promise<UploadForm> {
  const bytes = await readFile(file);
  const boundary = bytes.subarray(2, bytes.indexOf("\r\n")).toString();
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const form = await new Response(bytes, { headers }).formData();
  const metadata = JSON.parse(form.get("metadata") as string) as UploadForm["metadata"];
  const parts = [...form].filter(([name]) => name !== "metadata");
  const modules = Object.fromEntries(await Promise.all(parts.map(async ([name, part]) => [name, await textOf(part)])));
  return { metadata, modules, main: modules[metadata.main_module] ?? "" };
}

function textOf(part: File | string): Promise<string> | string {
  return typeof part === "string" ? part : part.text();
}
