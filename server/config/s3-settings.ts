import { z } from "zod";
import type { S3Settings } from "../drivers/object-store/s3.ts";
import { ConfigError } from "./config-error.ts";
import { url } from "./url-setting.ts";

/** The variables of the S3 object store. */
export const s3Variables = {
  S3_ENDPOINT: url(["https:", "http:"], "https://s3.eu-central-1.amazonaws.com").optional(),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket, such as apps-objects")
    .optional(),
  S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,50}$/, "must be a region, such as eu-central-1")
    .optional(),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_PREFIX: z
    .string()
    .regex(
      /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\/?$/,
      "must be a folder in the bucket, such as production/",
    )
    .optional(),
};

type S3Values = { [K in keyof typeof s3Variables]?: z.output<(typeof s3Variables)[K]> };

export const DEFAULT_REGION = "us-east-1";
const REQUIRED = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const;

/**
 * Combines the settings of the S3 object store.
 *
 * @returns `null` when the objects are files in the data folder
 * @throws {ConfigError} that names what is missing, or what has no effect
 */
export function readS3Settings(kind: "filesystem" | "s3", values: S3Values): S3Settings | null {
  if (kind === "filesystem") {
    const present = Object.keys(s3Variables).find((name) => values[name as keyof S3Values] !== undefined);
    if (present === undefined) return null;
    throw new ConfigError(`OBJECT_STORE must be s3, because ${present} is set`);
  }
  const missing = REQUIRED.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new ConfigError(`${missing.join(", ")} must be set too, because OBJECT_STORE is s3`);
  const { S3_PREFIX: prefix = "" } = values;
  return {
    endpoint: values.S3_ENDPOINT ?? "",
    bucket: values.S3_BUCKET ?? "",
    region: values.S3_REGION ?? DEFAULT_REGION,
    accessKeyId: values.S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: values.S3_SECRET_ACCESS_KEY ?? "",
    prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`,
  };
}
