import { createHmac, createPrivateKey, type KeyObject } from "node:crypto";
import { symmetricDecrypt } from "better-auth/crypto";
import type { AppStatus } from "../../../domain/apps/app-status.ts";
import type { App } from "../../../domain/apps/app.entity.ts";
import { type CreatedOrganization, createOrganization } from "../../../domain/organizations/create-organization.ts";
import { inviteOwner } from "../../../domain/organizations/invite-owner.ts";
import type { AppBuilder } from "../../../domain/ports/app-builder-agent.ts";
import type { PublicFiles } from "../../../domain/ports/public-files.ts";
import type { ClientMetadataFetcher } from "../../../server/ports/client-metadata.ts";
import { type Config, readConfig } from "../../../server/config.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { type RunningService, startService } from "../../../server/composition/start-service.ts";
import { nextMillisecond } from "../next-millisecond.ts";
import { shareBuilds } from "../builds/share-builds.ts";
import { WAIT_LIMIT_MS } from "../time-limits.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { createTestDatabase, TEST_TOKEN_SECRET } from "./test-databases.ts";
import { givenApp, type GivenApp } from "./given-app.ts";
import { type HttpResponse, RestClient } from "../clients/rest-client.ts";

export interface HarnessOptions {
  /** Whether a worker runs deployments and teardowns; most tests of the APIs need none. */
  worker?: boolean;
  /** Whether builds are shared with other tests of the run: for tests that deploy examples and do not test builds. */
  sharesBuilds?: boolean;
  config?: Partial<Config>;
  appBuilder?: AppBuilder;
  clientMetadata?: ClientMetadataFetcher;
  publicFiles?: PublicFiles;
}

/** An organization that no other test uses, with its tokens and a REST client. */
export interface Tenant extends CreatedOrganization {
  rest: RestClient;
}

/** The complete service in the process of the test, with its own database and data folder. Clients use real HTTP. */
export interface Harness extends AsyncDisposable {
  service: RunningService;
  config: Config;
  dataDirectory: string;
  /** Returns all log lines so far, one JSON object per line. */
  logged(): string;
  /** Creates an organization with an API key. */
  tenant(options?: { plan?: string }): Promise<Tenant>;
  /** Invites a user as the owner of the tenant's organization, as an operator does. Returns the invitation id. */
  inviteOwner(tenant: Tenant, email: string): Promise<string>;
  /** Returns the key that signs access tokens, for tests that forge tokens. */
  signingKey(): Promise<KeyObject>;
  /** Inserts an app with a status into the database, without a deployment job. */
  givenApp(tenant: Pick<Tenant, "org_id" | "user_id">, fields?: GivenApp): Promise<App>;
  /**
   * Waits until the app has one of the statuses, and returns the response of `GET /v1/apps/{id}`.
   *
   * @param statuses - by default those that an app keeps until the next request
   */
  waitForStatus(tenant: Pick<Tenant, "rest">, appId: string, statuses?: AppStatus[]): Promise<HttpResponse>;
}

export async function createHarness({
  worker = false,
  sharesBuilds = false,
  config: overrides = {},
  appBuilder,
  clientMetadata,
  publicFiles,
}: HarnessOptions = {}): Promise<Harness> {
  const stack = new AsyncDisposableStack();
  const { path: dataDirectory } = stack.use(await temporaryFolder());
  const { databaseUrl, redisUrl } = stack.use(await createTestDatabase());
  const config: Config = {
    ...readConfig({
      DATA_DIR: dataDirectory,
      PORT: "0",
      EDGE_PORT: "0",
      HOME: process.env["HOME"],
      PATH: process.env["PATH"],
    }),
    databaseUrl,
    redisUrl,
    tokenSecret: overrides.databaseUrl === null ? null : TEST_TOKEN_SECRET,
    // No test may depend on the internet.
    clientMetadataDocuments: clientMetadata === undefined ? "off" : "on",
    ...overrides,
  };
  const lines: string[] = [];
  const log = createLogger("trace", { write: (line) => void lines.push(line) });
  const service = await startService(config, log, { worker, appBuilder, clientMetadata, publicFiles });
  stack.defer(() => service.stop());
  const { deploymentDeps } = service.parts;
  if (sharesBuilds) deploymentDeps.bundler = shareBuilds(deploymentDeps.bundler);
  const em = () => service.parts.orm.em.fork();
  const tenant = async ({ plan = "scale" } = {}): Promise<Tenant> => {
    const settings = { name: "Test", email: "owner@example.com", plan };
    const organization = await em().transactional((tx) => createOrganization(tx, settings));
    // The first server of an organization is the one with the earliest time.
    await nextMillisecond();
    return { ...organization, rest: new RestClient(service.publicUrl, organization.api_key) };
  };
  return {
    service,
    config,
    dataDirectory,
    logged: () => lines.join(""),
    tenant,
    signingKey: () => signingKeyOf(service),
    inviteOwner: async ({ org_id: orgId, user_id: placeholderId }, email) =>
      (await em().transactional((tx) => inviteOwner(tx, { orgId, placeholderId, email }))).invitation_id,
    givenApp: (owner, fields) => em().transactional(async (tx) => givenApp(tx, owner, fields)),
    waitForStatus,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function signingKeyOf({ parts }: RunningService): Promise<KeyObject> {
  const em = parts.orm.em.fork();
  const [row] = await em.execute<{ privateKey: string }[]>(`select "privateKey" from auth.jwks`);
  const key = createHmac("sha256", parts.service.tokenSecret).update("identity").digest("base64url");
  const jwk = await symmetricDecrypt({ key, data: JSON.parse(row!.privateKey) as string });
  return createPrivateKey({ key: JSON.parse(jwk) as never, format: "jwk" });
}

const FINAL_STATUSES: AppStatus[] = ["ready", "failed", "canceled"];

async function waitForStatus(
  tenant: Pick<Tenant, "rest">,
  appId: string,
  statuses: AppStatus[] = FINAL_STATUSES,
): Promise<HttpResponse> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    const response = await tenant.rest.get(`/v1/apps/${appId}`);
    if (statuses.includes(response.body["status"] as AppStatus)) return response;
    if (Date.now() > deadline)
      throw new Error(`the app has none of these statuses: ${statuses.join()}. It is ${response.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
