import { createHmac } from "node:crypto";
import type { BetterAuthOptions } from "better-auth";
import { APIError, isAPIError } from "better-auth/api";
import type { ClientMetadataFetcher } from "../../domain/ports/client-metadata.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { clientMetadataRegistration } from "./client-metadata-registration.ts";
import { type HookDeps, identityHooks } from "./hooks.ts";
import { type Auth, openAuth } from "./open-auth.ts";

export interface IdentityDeps extends Omit<HookDeps, "signUp"> {
  config: Pick<Config, "signUp" | "social" | "appsDomain">;
  /** Where clients publish their metadata; `null` when none is to be read. */
  clientMetadata: ClientMetadataFetcher | null;
  tokenSecret: string;
  publicUrl(): string;
  log: Logger;
}

/** The identity provider, made when it is first asked for: it has to know the public URL, and so the port. */
export function openIdentity(options: IdentityDeps): () => Auth {
  const { config, tokenSecret, publicUrl, log, clientMetadata: documents, ...deps } = options;
  let auth: Auth | null = null;
  return () =>
    (auth ??= openAuth(deps.orm, {
      publicUrl: publicUrl(),
      // Of its own: what one key is used for must not help against the other.
      secret: createHmac("sha256", tokenSecret).update("identity").digest("base64url"),
      social: config.social,
      clientMetadataRegistration:
        documents && clientMetadataRegistration({ documents, log, ownHosts: ownHosts(publicUrl(), config) }),
      hooks: {
        ...identityHooks({ ...deps, signUp: config.signUp }),
        logger: loggerTo(log),
        onAPIError: { onError: (err) => reportTo(log, err) },
      },
    }));
}

/** Where a client's document would pass as ours: at the service itself, and at any app that somebody deploys. */
function ownHosts(publicUrl: string, { appsDomain }: Pick<Config, "appsDomain">): string[] {
  const apps = appsDomain?.replace(/:\d+$/, "").toLowerCase();
  return [new URL(publicUrl).hostname, ...(apps === undefined ? [] : [apps, `.${apps}`])];
}

/**
 * A refusal is the caller's to read; anything else is a fault.
 *
 * @throws {APIError} that says nothing of the fault: without it better-auth would print the fault beside the log
 */
function reportTo(log: Logger, err: unknown): void {
  if (isAPIError(err)) return;
  log.error({ err }, "the identity provider failed");
  throw new APIError("INTERNAL_SERVER_ERROR", { message: "The service failed to answer. Try again." });
}

/** The message alone: what comes with it may be what somebody typed into a form. */
function loggerTo(log: Logger): NonNullable<BetterAuthOptions["logger"]> {
  return {
    level: "warn",
    log: (level, message, ...details) => {
      const err = details.find((detail) => detail instanceof Error);
      // A wrong password or a foreign origin is no fault of the service's.
      const said = level === "error" && err !== undefined ? "error" : "debug";
      log[said]({ identity: level, ...(err && { err }) }, message);
    },
  };
}
