import { readFile } from "node:fs/promises";

export interface BundledForm {
  metadata: { main_module: string; compatibility_date: string; bindings: { type: string; name: string }[] };
  /** The text of every module by name, with the main one also as `main`. */
  modules: Record<string, string>;
  main: string;
}

/** Reads the upload form that a bundler wrote. */
export async function readForm(file: string): Promise<BundledForm> {
  const bytes = await readFile(file);
  const boundary = bytes.subarray(2, bytes.indexOf("\r\n")).toString();
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const form = await new Response(bytes, { headers }).formData();
  const metadata = JSON.parse(form.get("metadata") as string) as BundledForm["metadata"];
  const parts = [...form].filter(([name]) => name !== "metadata");
  const modules = Object.fromEntries(await Promise.all(parts.map(async ([name, part]) => [name, await textOf(part)])));
  return { metadata, modules, main: modules[metadata.main_module] ?? "" };
}

function textOf(part: File | string): Promise<string> | string {
  return typeof part === "string" ? part : part.text();
}
