import path from "node:path";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { FilesystemObjectStore } from "../drivers/object-store/filesystem.ts";
import type { Installation } from "../installation/installation.ts";
import { guardObjects, ownerOfObjects } from "../installation/object-owner.ts";
import { Ownership } from "../installation/ownership.ts";
import { S3ObjectStore, type S3Settings } from "../drivers/object-store/s3.ts";

/** Opens the object store of the configuration. @throws {ConfigError} when its bucket cannot be read */
export async function openObjectStore(
  { dataDirectory, s3 }: Pick<Config, "dataDirectory" | "s3">,
  opening: AsyncDisposableStack,
): Promise<ObjectStore> {
  return s3 === null ? openFilesystemStore(dataDirectory) : opening.use(await openS3Store(s3));
}

/**
 * Opens the object store for the service, which changes the objects. One outside of the data folder must belong to this installation, now
 * and at every change.
 *
 * @param deps.onTakenOver - called when a restored copy has taken over the objects
 * @throws {ConfigError}
 */
export async function openOwnObjectStore(
  config: Pick<Config, "dataDirectory" | "s3">,
  { installation, onTakenOver }: { installation: Installation; onTakenOver: (error: Error) => void },
  opening: AsyncDisposableStack,
): Promise<ObjectStore> {
  const objects = await openObjectStore(config, opening);
  if (config.s3 === null) return objects;
  return guardObjects(objects, opening.use(await Ownership.open(ownerOfObjects(objects), installation, onTakenOver)));
}

export function openFilesystemStore(dataDirectory: string): ObjectStore {
  return new FilesystemObjectStore(path.join(dataDirectory, "objects"));
}

/** @throws {ConfigError} */
export async function openS3Store(settings: S3Settings): Promise<S3ObjectStore> {
  try {
    return await S3ObjectStore.open(settings);
  } catch (cause) {
    const { name, message, code } = cause as NodeJS.ErrnoException;
    const reason = [name === "Error" ? code : name, message].filter(Boolean).join(": ");
    throw new ConfigError(`The bucket ${settings.bucket} at S3_ENDPOINT cannot be read. ${reason}`, { cause });
  }
}
