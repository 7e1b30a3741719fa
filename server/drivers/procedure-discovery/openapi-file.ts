import { opendir } from "node:fs/promises";
import path from "node:path";
import { parseJson } from "../../../domain/shared/json.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { parseYaml } from "./parse-yaml.ts";

const FOLDERS = [".", "docs"] as const;
const NAMES = ["openapi.json", "openapi.yaml", "openapi.yml"] as const;
const MAX_JSON_BYTES = 2 * 1024 * 1024;
const MAX_YAML_BYTES = 512 * 1024;

export interface OpenApiFile {
  /** The path in the repository. */
  name: string;
  /** `undefined` when the file is too large or cannot be parsed. */
  document: unknown;
}

/**
 * Reads the OpenAPI document at the root of the repository or in its folder `docs`.
 *
 * @returns `null` when there is none
 */
export async function readOpenApiFile(sourceDirectory: string): Promise<OpenApiFile | null> {
  for (const folder of FOLDERS) {
    if (!(await isDirectory(path.join(sourceDirectory, folder)))) continue;
    for (const file of NAMES) {
      const name = path.join(folder, file);
      const content = await readDocument(path.join(sourceDirectory, name));
      if (content !== null) return { name, ...content };
    }
  }
  return null;
}

/**
 * Whether the folder is a directory and not a symbolic link. `readUntrusted` checks only the last part of a path, so a
 * link in place of the folder could lead out of the checkout.
 */
async function isDirectory(folder: string): Promise<boolean> {
  const parent = await opendir(path.dirname(folder));
  const name = path.basename(folder);
  for await (const entry of parent) if (entry.name === name) return entry.isDirectory();
  return false;
}

async function readDocument(file: string): Promise<{ document: unknown } | null> {
  const isJson = file.endsWith(".json");
  try {
    const text = await readUntrusted(file, isJson ? MAX_JSON_BYTES : MAX_YAML_BYTES);
    if (text === null) return null;
    return { document: isJson ? parseJson(text) : await parseYaml(text) };
  } catch (error) {
    if (error instanceof RangeError) return { document: undefined };
    throw error;
  }
}
