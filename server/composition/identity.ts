import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { ClientMetadataFetcher } from "../ports/client-metadata.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { type Authenticators, buildAuthenticators } from "../auth/build-authenticators.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { InternetReachability } from "../identity/internet-reachability.ts";
import type { Auth } from "../identity/open-auth.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface IdentityServiceDeps {
  orm: Orm;
  config: Config;
  counter: Counter;
  accessChanges: ChangeFeed;
  /** Fetches the metadata that OAuth clients publish. */
  clientMetadataFetcher: ClientMetadataFetcher;
  tokenSecret: string;
  publicUrl(): string;
  log: Logger;
}

/** Authentication of calls, and the identity provider where users sign in. */
export interface IdentityServices extends Authenticators {
  /** Creates the identity provider at the first call. It is imported then, because better-auth is large. */
  auth: () => Promise<Auth>;
}

export function openIdentityServices(
  { clientMetadataFetcher: fetcher, ...deps }: IdentityServiceDeps,
  resources: AsyncDisposableStack,
): IdentityServices {
  const { config, log } = deps;
  const setting = config.clientMetadataDocuments;
  const reachability = setting === "auto" ? resources.use(new InternetReachability({ fetcher, log })) : null;
  const clientMetadata = setting === "off" ? null : { fetcher, reachability };
  let opening: Promise<() => Auth> | null = null;
  const open = async (): Promise<() => Auth> => {
    const { openIdentity } = await import("../identity/identity.ts");
    return openIdentity({ ...deps, clientMetadata });
  };
  return { ...buildAuthenticators(deps), auth: async () => (await (opening ??= open()))() };
}
