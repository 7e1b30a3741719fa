import { z } from "zod";
import { BackupError } from "./backup-error.ts";
import type { BackupRepository } from "./backup-repository.ts";

const chunks = z.array(z.string().regex(/^[0-9a-f]{64}$/));
const content = { size: z.int().nonnegative(), chunks };
/** The bytes of a path in Latin-1. Only paths below the data folder are valid. */
const path = z.string().refine(isRelativePath, "must be a path below the data folder");
const mode = z.int().nonnegative().max(0o777);

/** What a backup has, one line of JSON for each entry. A folder comes before what it contains. */
export const entrySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("folder"), path, mode }),
  z.object({ kind: z.literal("file"), path, mode, modified: z.int(), ...content }),
  z.object({ kind: z.literal("link"), path, target: z.string() }),
  z.object({ kind: z.literal("object"), bucket: z.string(), key: z.string(), ...content }),
  // Of several edges. The key is below the prefix of the bucket.
  z.object({ kind: z.literal("shared_object"), key: z.string().refine(isRelativePath), ...content }),
]);

export type BackupEntry = z.output<typeof entrySchema>;

export const manifestSchema = z.object({
  id: z.string(),
  created_at: z.string(),
  installation: z.object({ id: z.uuid(), epoch: z.int() }),
  /** Where the database of the service and the one of apps were. */
  database: z.enum(["embedded", "external"]),
  apps_database: z.enum(["embedded", "external", "absent"]),
  /** Where the apps and their data were. Earlier versions made backups of one edge only. */
  edges: z.enum(["one", "several"]).default("one"),
  /** The major version of the embedded PostgreSQL; 0 if it had neither. */
  postgres_major: z.int(),
  /** Tells whether another installation has the same `TOKEN_SECRET`, without telling the secret. */
  token_secret_check: z.string().nullable(),
  files: z.int(),
  objects: z.int(),
  bytes: z.int(),
  warnings: z.array(z.string()),
  index: z.object(content),
});

export type Manifest = z.output<typeof manifestSchema>;

function isRelativePath(value: string): boolean {
  return value.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
}

/** @throws {BackupError} for an unknown or damaged backup */
export async function readManifest(repository: BackupRepository, id: string): Promise<Manifest> {
  const parsed = manifestSchema.safeParse(await repository.readManifest(id));
  if (parsed.success && parsed.data.id === id) return parsed.data;
  throw new BackupError(`The backup ${id} is damaged, or was made by a newer version of the service.`);
}

/** Reads the entries of a backup. @throws {BackupError} when a part is missing or damaged */
export async function* readIndex(repository: BackupRepository, { index }: Manifest): AsyncGenerator<BackupEntry> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of repository.read(index)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield entrySchema.parse(JSON.parse(line));
  }
}
