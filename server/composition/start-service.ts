import type { AddressInfo } from "node:net";
import type { CreatedOrganization } from "../../domain/organizations/create-organization.ts";
import type { AppBuilder } from "../../domain/ports/app-builder.ts";
import type { ClientMetadataFetcher } from "../../domain/ports/client-metadata.ts";
import { createApp } from "../http/app.ts";
import { bootstrap } from "../startup/bootstrap.ts";
import type { Config } from "../config.ts";
import { reachable } from "../http/listen-address.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type OpenServices, openServices } from "./services.ts";
import { Worker } from "../worker/worker.ts";

export interface Service {
  publicUrl: string;
  /** The port that the control plane was bound to. */
  port: number;
  /** What the service is made of, for those who look inside: tests and benchmarks. */
  parts: OpenServices;
  /** The tokens of the organization that this start created; `null` when there was one already. */
  bootstrapped: CreatedOrganization | null;
  /** Finishes requests, hands running builds back, stops every app, and leaves no child process. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Whether this process takes builds and teardowns off the queue. */
  worker?: boolean;
  /** The agent that customizes apps; none is configured by default. */
  appBuilder?: AppBuilder | null;
  /** Reads what OAuth clients publish about themselves; from the public web alone by default. */
  clientMetadata?: ClientMetadataFetcher | undefined;
}

/** Starts everything the configuration asks for; when this returns, the service answers. */
export async function startService(config: Config, log: Logger, options: ServiceOptions = {}): Promise<Service> {
  // Stopped in the opposite order, each whatever becomes of the others: requests that wait for a teardown need the worker.
  await using starting = new AsyncDisposableStack();
  let publicUrl = config.publicUrl;
  const opened = await openServices(config, log, {
    appBuilder: options.appBuilder ?? null,
    clientMetadata: options.clientMetadata,
    publicUrl: () => publicUrl ?? "",
  });
  starting.defer(() => opened.close());
  const { orm, boss, authenticator, gatewayAuthenticator, membershipResolver, auth, services, readiness, buildDeps } =
    opened;
  const worker = new Worker({
    ...{ boss, deps: buildDeps, db: services.db, log, buildConcurrency: config.buildConcurrency },
    retention: { auditDays: config.auditRetentionDays },
  });
  starting.defer(() => worker.stop());
  const bootstrapped = config.production ? null : await bootstrap(orm, config.dataDirectory, config.defaultPlan);
  const app = await createApp({
    services,
    authenticator,
    gatewayAuthenticator,
    membershipResolver,
    auth,
    signIn: config,
    trustedProxies: config.trustedProxies,
    log,
    readiness,
    publicUrl: () => publicUrl ?? "",
  });
  starting.defer(() => app.close());
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.server.address() as AddressInfo;
  publicUrl ??= `http://${urlHost(config.host)}:${port}`;
  if (options.worker ?? true) await worker.start();
  const started = starting.move();
  return { publicUrl, port, parts: opened, bootstrapped, stop: () => started.disposeAsync() };
}

function urlHost(host: string): string {
  const address = reachable(host);
  return address.includes(":") ? `[${address}]` : address;
}
