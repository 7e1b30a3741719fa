import { createHash } from "node:crypto";
import { ARCHIVE_LIMITS } from "../archives/archive-limits.ts";
import type { ExportArchive, ExportMember } from "../ports/export-archive.ts";
import { ServiceError } from "../shared/errors.ts";
import { EXPORT_LIMITS } from "./export-limits.ts";
import {
  type ExportManifest,
  type ListedMember,
  MANIFEST_PATH,
  parseManifest,
  refused,
  SOURCE_PATH,
} from "./export-manifest.ts";

/** What a tar archive has beside the content of a member. */
const ENTRY_BYTES = 4096;

/** Receives the members of an export after its manifest. What it does not read is read and checked nevertheless. */
export type ReadMember = (member: ExportMember, manifest: ExportManifest) => Promise<void>;

/**
 * Reads an export of a stranger, and checks that it has exactly the members of its manifest.
 *
 * @param maxDataBytes - how many bytes its data may have
 * @throws {ServiceError} `invalid` for an export that is damaged, incomplete or has anything else; `plan_limit` for too much data
 */
export async function readExport(
  archives: ExportArchive,
  file: AsyncIterable<Uint8Array>,
  maxDataBytes: number,
  readMember: ReadMember = async () => undefined,
): Promise<ExportManifest> {
  const { manifestBytes, files } = EXPORT_LIMITS;
  const maxBytes = manifestBytes + ARCHIVE_LIMITS.bytes + maxDataBytes + files * ENTRY_BYTES;
  let manifest: ExportManifest | null = null;
  let index = 0;
  for await (const member of archives.read(file, maxBytes)) {
    if (manifest === null) {
      manifest = await readManifest(member);
      checkSizes(manifest, maxDataBytes);
      continue;
    }
    const listed = manifest.members[index++];
    if (listed === undefined || listed.path !== member.path || listed.size !== member.size)
      throw refused(`${JSON.stringify(member.path)} is not as ${MANIFEST_PATH} says.`);
    await readChecked(member, listed, (checked) => readMember(checked, manifest as ExportManifest));
  }
  if (manifest === null) throw refused("it is empty.");
  if (index < manifest.members.length) throw refused(`it does not have all files of ${MANIFEST_PATH}.`);
  return manifest;
}

/** Reads the first member of an export. @throws {ServiceError} `invalid` when it is not its manifest */
export async function readManifest({ path, size, content }: ExportMember): Promise<ExportManifest> {
  if (path !== MANIFEST_PATH) throw refused(`it is not an export of an app: ${MANIFEST_PATH} is not its first file.`);
  if (size > EXPORT_LIMITS.manifestBytes) throw refused(`${MANIFEST_PATH} is too large.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content()) chunks.push(Uint8Array.from(chunk));
  return parseManifest(Buffer.concat(chunks));
}

function checkSizes({ members }: ExportManifest, maxDataBytes: number): void {
  if (members.length > EXPORT_LIMITS.files) throw refused(`it has more than ${EXPORT_LIMITS.files} files.`);
  const [source, ...data] = members;
  if ((source?.size ?? 0) > ARCHIVE_LIMITS.bytes) throw refused(`${SOURCE_PATH} is too large.`);
  const bytes = data.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= maxDataBytes) return;
  const [limit, has] = [maxDataBytes, bytes].map((size) => Math.ceil(size / 1024 ** 2));
  throw new ServiceError(
    "plan_limit",
    `The data of the app has ${has} MiB. The plan permits ${limit} MiB for each app.`,
  );
}

async function readChecked(
  member: ExportMember,
  { path, sha256 }: ListedMember,
  read: (member: ExportMember) => Promise<void>,
): Promise<void> {
  const hash = createHash("sha256");
  async function* content(): AsyncGenerator<Uint8Array> {
    for await (const chunk of member.content()) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const checked = content();
  await read({ ...member, content: () => checked });
  for await (const _ of checked);
  if (hash.digest("hex") !== sha256) throw refused(`${JSON.stringify(path)} is damaged: its SHA-256 is another one.`);
}
