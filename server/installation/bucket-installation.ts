import { randomUUID } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../domain/shared/json.ts";
import { ConfigError } from "../config/config-error.ts";
import {
  INSTALLATION_STATES,
  type Installation,
  type InstallationState,
  readInstallation,
  writeInstallation,
} from "./installation.ts";

/** What this module needs of the bucket that several edges share. */
interface Bucket {
  read(key: string): Promise<{ bytes: Buffer } | null>;
  write(key: string, bytes: Uint8Array, condition?: { ifNoneMatch: "*" }): Promise<object | null>;
}

const KEY = "edge/installation.json";

const recordSchema = z.object({
  id: z.string(),
  epoch: z.int(),
  // Records of an earlier version have no state.
  state: z.enum(INSTALLATION_STATES).default("active" satisfies InstallationState),
});

/** Returns the installation of the edges that share a bucket; `null` if no edge has used it. */
export async function readBucketInstallation(bucket: Pick<Bucket, "read">): Promise<Installation | null> {
  const found = await bucket.read(KEY);
  return found && recordSchema.parse(parseJson(found.bytes.toString("utf8")));
}

export async function writeBucketInstallation(bucket: Bucket, installation: Installation): Promise<void> {
  await bucket.write(KEY, encode(installation));
}

/** Marks a bucket without an installation as the place of a restore. @returns whether it had none */
export async function beginRestore(
  bucket: Bucket,
  { id, epoch }: Pick<Installation, "id" | "epoch">,
): Promise<boolean> {
  return (await bucket.write(KEY, encode({ id, epoch, state: "restoring" }), { ifNoneMatch: "*" })) !== null;
}

/**
 * Makes this edge part of the installation in the bucket. All edges are the same installation, whichever starts first. The bucket also says
 * whether the installation is a restored copy, because each edge has its own data folder.
 *
 * @throws {ConfigError} when the bucket belongs to another installation, or a restore has not finished
 */
export async function joinInstallation(bucket: Bucket, dataDirectory: string): Promise<void> {
  const own = await readInstallation(dataDirectory);
  const initial: Installation = own ?? { id: randomUUID(), epoch: 1, state: "active" };
  await bucket.write(KEY, encode(initial), { ifNoneMatch: "*" });
  const shared = (await readBucketInstallation(bucket)) ?? initial;
  if (own !== null && own.id !== shared.id)
    throw new ConfigError("S3_PREFIX: the objects belong to another installation. Set S3_PREFIX to another folder.");
  if (own !== null && own.epoch > shared.epoch)
    throw new ConfigError(
      "S3_PREFIX: the objects belong to this installation as it was before a restored copy took over. Set S3_PREFIX to the folder of the copy.",
    );
  if (shared.state === "restoring")
    throw new ConfigError("S3_PREFIX: the restore of the objects has not finished. Repeat it.");
  if (own?.epoch !== shared.epoch || own.state !== shared.state) await writeInstallation(dataDirectory, shared);
}

function encode(installation: Installation): Buffer {
  return Buffer.from(JSON.stringify(installation));
}
