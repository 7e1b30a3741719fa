import { opendir } from "node:fs/promises";
import path from "node:path";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { parseYaml } from "./parse-yaml.ts";

const FOLDERS = [".", "docs"] as const;
const NAMES = ["openapi.json", "openapi.yaml", "openapi.yml"] as const;
const LIMIT_BYTES = 2 * 1024 * 1024;
const YAML_LIMIT_BYTES = 512 * 1024;

export interface RepositoryDocument {
  /** Its path in the repository. */
  name: string;
  /** `undefined` when it is too large or cannot be parsed. */
  document: unknown;
}

/** The OpenAPI document at the root of the repository or in its `docs`; `null` when there is none. */
export async function readRepositoryDocument(sourceDirectory: string): Promise<RepositoryDocument | null> {
  for (const folder of FOLDERS) {
    if (!(await isFolder(path.join(sourceDirectory, folder)))) continue;
    for (const file of NAMES) {
      const name = path.join(folder, file);
      const read = await readDocument(path.join(sourceDirectory, name));
      if (read !== null) return { name, ...read };
    }
  }
  return null;
}

/** A link in place of the folder could lead out of the checkout, and only the last part of a path is protected from it. */
async function isFolder(folder: string): Promise<boolean> {
  const parent = await opendir(path.dirname(folder));
  const name = path.basename(folder);
  for await (const entry of parent) if (entry.name === name) return entry.isDirectory();
  return false;
}

async function readDocument(file: string): Promise<{ document: unknown } | null> {
  const isJson = file.endsWith(".json");
  try {
    const text = await readUntrusted(file, isJson ? LIMIT_BYTES : YAML_LIMIT_BYTES);
    if (text === null) return null;
    return { document: isJson ? parseJson(text) : await parseYaml(text) };
  } catch (error) {
    if (error instanceof RangeError) return { document: undefined };
    throw error;
  }
}
