import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { App } from "../apps/app.entity.ts";
import type { PushEndpoint } from "../push-records/push-endpoint.entity.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";

export interface PushEndpointDeps {
  /** Encrypts the secrets that sign deliveries. */
  pushSecretCipher: ValueCipher;
  /** The URL of the service, without a slash at the end. */
  publicUrl: () => string;
}

/** How an app is deployed by pushes. */
export interface PushSettings {
  enabled: boolean;
  /** Where the git host sends deliveries; `null` until it is switched on for the first time. */
  url: string | null;
  /** Only in the response that created it. */
  secret: string | null;
  /** The branch whose pushes deploy the app; `null` for an app without a repository. */
  branch: string | null;
  paths: string[];
  statuses: boolean;
  poll: boolean;
}

export function createSecret(): string {
  return randomBytes(32).toString("hex");
}

export function sealSecret({ pushSecretCipher }: PushEndpointDeps, id: string, secret: string): string {
  return pushSecretCipher.seal(secret, [id]);
}

/** Returns `null` for a secret that was stored with another `TOKEN_SECRET`. */
export function openSecret(
  { pushSecretCipher }: Pick<PushEndpointDeps, "pushSecretCipher">,
  { id, sealedSecret }: Pick<PushEndpoint, "id" | "sealedSecret">,
): string | null {
  return pushSecretCipher.open(sealedSecret, [id]);
}

export function toPushSettings(
  { publicUrl }: Pick<PushEndpointDeps, "publicUrl">,
  app: Pick<App, "branch">,
  endpoint: PushEndpoint | null,
  secret: string | null = null,
): PushSettings {
  return {
    enabled: endpoint?.isEnabled ?? false,
    url: endpoint === null ? null : `${publicUrl()}/hooks/git/${endpoint.id}`,
    secret,
    branch: endpoint?.branch ?? app.branch ?? null,
    paths: [...(endpoint?.paths ?? [])],
    statuses: endpoint?.reportsStatuses ?? true,
    poll: endpoint?.polls ?? false,
  };
}

/** Compares two texts in a time that does not depend on where they differ. */
export function isSameSecret(given: string, secret: string): boolean {
  const [a, b] = [given, secret].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
