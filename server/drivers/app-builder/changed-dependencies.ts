import { constants } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { Customization } from "../../../domain/ports/app-builder-agent.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";

const FIELDS = ["dependencies", "devDependencies"] as const;
const MAX_BYTES = 1024 * 1024;

/** The package.json at the root of a project; `null` if there is none that can be read. */
export async function readManifest(sourceDirectory: string): Promise<Record<string, unknown> | null> {
  const text = await readUntrusted(path.join(sourceDirectory, "package.json"), MAX_BYTES).catch(() => null);
  const manifest = parseJson(text ?? "");
  return isRecord(manifest) ? manifest : null;
}

/**
 * Adds the packages that a command has written into package.json with the package manager, so that the lockfile has them too and the
 * rules of installs apply. What cannot be added is left out, and the next trial shows it.
 *
 * @param before - package.json before the command
 */
export async function addChangedDependencies(
  { sourceDirectory, addDependency, say }: Customization,
  before: Record<string, unknown> | null,
): Promise<void> {
  const after = await readManifest(sourceDirectory);
  if (after === null) return;
  const changed = FIELDS.flatMap((field) => listChanged(before?.[field], after[field], field === "devDependencies"));
  if (changed.length === 0) return;
  const restored: Record<string, unknown> = { ...after };
  for (const field of FIELDS) {
    if (before?.[field] === undefined) delete restored[field];
    else restored[field] = before[field];
  }
  await writeManifest(sourceDirectory, restored);
  for (const dependency of changed) {
    const { passed } = await addDependency(dependency);
    say(`add dependency ${dependency.name}${passed ? "" : ": failed"}`);
  }
}

function listChanged(before: unknown, after: unknown, isDevelopment: boolean) {
  if (!isRecord(after)) return [];
  const old = isRecord(before) ? before : {};
  return Object.entries(after)
    .filter(([name, version]) => old[name] !== version)
    .map(([name, version]) => ({ name, version: String(version), isDevelopment }));
}

/** No process of the command runs any more, and a link is not followed. */
async function writeManifest(sourceDirectory: string, manifest: object): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW;
  await using file = await open(path.join(sourceDirectory, "package.json"), flags);
  await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
}
