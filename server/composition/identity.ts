import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { ClientMetadataFetcher } from "../../domain/ports/client-metadata.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { type Authenticators, buildAuthenticators } from "../auth/build-authenticators.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Orm } from "../database/orm.ts";
import { openIdentity } from "../identity/identity.ts";
import type { Auth } from "../identity/open-auth.ts";

export interface PeopleDeps {
  orm: Orm;
  config: Config;
  counter: Counter;
  accessChanges: ChangeFeed;
  /** Where OAuth clients publish their metadata, if the configuration lets them. */
  clientMetadata: ClientMetadataFetcher | null;
  tokenSecret: string;
  publicUrl(): string;
  log: Logger;
}

/** Who may call, and where people sign in. */
export interface People extends Authenticators {
  /** The identity provider. */
  auth: () => Auth;
}

export function openIdentityServices(deps: PeopleDeps): People {
  const clientMetadata = deps.config.clientMetadataDocuments ? deps.clientMetadata : null;
  return { ...buildAuthenticators(deps), auth: openIdentity({ ...deps, clientMetadata }) };
}
