import { createHmac } from "node:crypto";
import type { BetterAuthOptions } from "better-auth";
import { APIError, isAPIError } from "better-auth/api";
import type { ClientMetadataFetcher } from "../ports/client-metadata.ts";
import { INTERNAL_ERROR } from "../../domain/shared/errors.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { clientMetadataRegistration } from "./client-metadata-registration.ts";
import { resolveConsentedOrganization } from "./consented-organization.ts";
import { type HookDeps, identityHooks } from "./hooks.ts";
import type { InternetReachability } from "./internet-reachability.ts";
import { type Auth, openAuth } from "./open-auth.ts";

export interface IdentityDeps extends Omit<HookDeps, "signUp"> {
  config: Pick<Config, "signUp" | "social" | "appsDomain">;
  /** `null` turns off OAuth clients that publish a metadata document. */
  clientMetadata: ClientMetadataOptions | null;
  tokenSecret: string;
  publicUrl(): string;
  log: Logger;
}

export interface ClientMetadataOptions {
  fetcher: ClientMetadataFetcher;
  /** Decides whether such clients are offered; `null` offers them always. */
  reachability: InternetReachability | null;
}

/** Returns a function that creates the identity provider at its first call. The public URL needs the port, which is known only then. */
export function openIdentity(options: IdentityDeps): () => Auth {
  const { config, tokenSecret, publicUrl, log, clientMetadata, ...deps } = options;
  let auth: Auth | null = null;
  const open = (): Auth =>
    openAuth(deps.orm, {
      publicUrl: publicUrl(),
      // A derived key: a weakness in one use of the secret must not affect its other uses.
      secret: createHmac("sha256", tokenSecret).update("identity").digest("base64url"),
      social: config.social,
      clientMetadataRegistration:
        clientMetadata &&
        clientMetadataRegistration({
          fetcher: clientMetadata.fetcher,
          log,
          ownHosts: listOwnHosts(publicUrl(), config),
          isOffered: () => clientMetadata.reachability?.isReachable ?? true,
        }),
      resolveConsentedOrganization: (userId) =>
        resolveConsentedOrganization(queryBuilderOf(deps.orm.em.fork()), userId),
      hooks: {
        ...identityHooks({ ...deps, publicUrl, signUp: config.signUp }),
        logger: createAuthLogger(log),
        onAPIError: { onError: (err) => reportError(log, err) },
      },
    });
  return () => (auth ??= waitForReachability(open(), clientMetadata?.reachability ?? null));
}

/** Delays the OAuth metadata until it is known whether the internet can be reached: clients keep what they read first. */
function waitForReachability(auth: Auth, reachability: InternetReachability | null): Auth {
  if (reachability === null) return auth;
  return {
    async handler(request) {
      if (new URL(request.url).pathname.includes("/.well-known/")) await reachability.untilKnown();
      return auth.handler(request);
    },
  };
}

/** The hosts of the service and of all deployed apps. A document of an OAuth client on them could pass as the service's own. */
function listOwnHosts(publicUrl: string, { appsDomain }: Pick<Config, "appsDomain">): string[] {
  const apps = appsDomain?.replace(/:\d+$/, "").toLowerCase();
  return [new URL(publicUrl).hostname, ...(apps === undefined ? [] : [apps, `.${apps}`])];
}

/**
 * Logs an internal error. An `APIError` is for the caller and is not logged.
 *
 * @throws {APIError} without details of the internal error: if this returned, better-auth would print the error to the console
 */
function reportError(log: Logger, err: unknown): void {
  if (isAPIError(err)) return;
  log.error({ err }, "the identity provider failed");
  throw new APIError("INTERNAL_SERVER_ERROR", { message: INTERNAL_ERROR });
}

/** Logs messages and errors only. Other details of a log call may contain what a user typed into a form. */
function createAuthLogger(log: Logger): NonNullable<BetterAuthOptions["logger"]> {
  return {
    level: "warn",
    log: (level, message, ...details) => {
      const err = details.find((detail) => detail instanceof Error);
      // better-auth also logs a wrong password and a foreign origin as errors. They are not errors of the service.
      const logLevel = level === "error" && err !== undefined ? "error" : "debug";
      log[logLevel]({ identity: level, ...(err && { err }) }, message);
    },
  };
}
