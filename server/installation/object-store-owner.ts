import { z } from "zod";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { parseJson } from "../../domain/shared/json.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Installation } from "./installation.ts";

/** The bucket in which an object store names its installation. The sweep removes only buckets of apps. */
export const OWNER_BUCKET = "installation";
const KEY = "owner.json";

const ownerSchema = z.object({ id: z.string(), epoch: z.int() });

/**
 * Makes an object store outside of the data folder that of an installation, so that neither another installation nor an earlier epoch of
 * this one uses and sweeps it.
 *
 * @throws {ConfigError} when it belongs to another one, or a restored copy has taken over
 */
export async function claimObjects(
  objects: Pick<ObjectStore, "get" | "put">,
  { id, epoch }: Pick<Installation, "id" | "epoch">,
): Promise<void> {
  const bytes = await objects.get(OWNER_BUCKET, KEY);
  const owner = bytes === null ? null : ownerSchema.parse(parseJson(Buffer.from(bytes).toString("utf8")));
  if (owner !== null && owner.id !== id)
    throw new ConfigError("S3_PREFIX: the objects belong to another installation. Set S3_PREFIX to another folder.");
  if (owner !== null && owner.epoch > epoch)
    throw new ConfigError(
      "S3_PREFIX: a restored copy of this installation has taken over the objects. Set S3_PREFIX to another folder, or do not start this installation any more.",
    );
  if (owner?.epoch !== epoch) await objects.put(OWNER_BUCKET, KEY, Buffer.from(JSON.stringify({ id, epoch })));
}
