import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { ClientMetadataFetcher } from "../../domain/ports/client-metadata.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { type Authenticators, buildAuthenticators } from "../auth/build-authenticators.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { openIdentity } from "../identity/identity.ts";
import type { Auth } from "../identity/open-auth.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface IdentityServiceDeps {
  orm: Orm;
  config: Config;
  counter: Counter;
  accessChanges: ChangeFeed;
  /** Fetches the metadata that OAuth clients publish; `null` turns such clients off. */
  clientMetadata: ClientMetadataFetcher | null;
  tokenSecret: string;
  publicUrl(): string;
  log: Logger;
}

/** Authentication of calls, and the identity provider where users sign in. */
export interface IdentityServices extends Authenticators {
  /** The identity provider. */
  auth: () => Auth;
}

export function openIdentityServices(deps: IdentityServiceDeps): IdentityServices {
  const clientMetadata = deps.config.clientMetadataDocuments ? deps.clientMetadata : null;
  return { ...buildAuthenticators(deps), auth: openIdentity({ ...deps, clientMetadata }) };
}
