import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { url } from "./url-setting.ts";

/** A name has no double hyphen, so that the names of one installation never start with those of another one. */
const NAMESPACE = /^(?=.{1,16}$)[a-z0-9]+(-[a-z0-9]+)*$/;

/** The variables of `EDGE_PLATFORM=cloudflare`. */
export const cloudflareVariables = {
  CLOUDFLARE_ACCOUNT_ID: z
    .string()
    .regex(/^[0-9a-f]{32}$/, "must be the id of an account: 32 hexadecimal digits")
    .optional(),
  CLOUDFLARE_API_TOKEN: z.string().optional(),
  CLOUDFLARE_DISPATCH_NAMESPACE: z
    .string()
    .regex(NAMESPACE, "must have 1 to 16 lower-case letters and digits, with single hyphens between them, such as apps")
    .optional(),
  CLOUDFLARE_API_URL: url(["https:", "http:"], "https://api.cloudflare.com/client/v4").optional(),
};

type CloudflareValues = { [K in keyof typeof cloudflareVariables]?: z.output<(typeof cloudflareVariables)[K]> };

export interface CloudflareSettings {
  /** Without a slash at the end. */
  apiUrl: string;
  accountId: string;
  apiToken: string;
  /** The dispatch namespace, which the operator has created. */
  namespace: string;
}

const DEFAULT_API_URL = "https://api.cloudflare.com/client/v4";
const REQUIRED = ["CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_DISPATCH_NAMESPACE"] as const;

/**
 * Combines the settings of the edge platform.
 *
 * @returns `null` when apps run on this machine
 * @throws {ConfigError} that names what is missing, or what has no effect
 */
export function readCloudflareSettings(
  platform: "embedded" | "cloudflare",
  values: CloudflareValues & { APPS_DOMAIN?: string | undefined },
): CloudflareSettings | null {
  if (platform === "embedded") {
    const present = Object.keys(cloudflareVariables).find(
      (name) => values[name as keyof CloudflareValues] !== undefined,
    );
    if (present === undefined) return null;
    throw new ConfigError(`EDGE_PLATFORM must be cloudflare, because ${present} is set`);
  }
  const missing = [...REQUIRED, "APPS_DOMAIN" as const].filter((name) => values[name] === undefined);
  if (missing.length > 0)
    throw new ConfigError(`${missing.join(", ")} must be set too, because EDGE_PLATFORM is cloudflare`);
  return {
    apiUrl: (values.CLOUDFLARE_API_URL ?? DEFAULT_API_URL).replace(/\/+$/, ""),
    accountId: values.CLOUDFLARE_ACCOUNT_ID ?? "",
    apiToken: values.CLOUDFLARE_API_TOKEN ?? "",
    namespace: values.CLOUDFLARE_DISPATCH_NAMESPACE ?? "",
  };
}
