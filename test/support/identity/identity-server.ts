import { fastify } from "fastify";
import { afterAll, beforeAll } from "vitest";
import { MemoryChangeFeed } from "../../../server/drivers/change-feed/memory-change-feed.ts";
import { MemoryCounter } from "../../../server/drivers/counter/memory-counter.ts";
import { openDatabase } from "../../../server/database/open-database.ts";
import type { Orm } from "../../../server/database/orm.ts";
import { type IdentityDeps, openIdentity } from "../../../server/identity/identity.ts";
import { identityPlugin } from "../../../server/identity/plugin.ts";
import { sendRequestError } from "../../../server/rest/error-response.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createTestDatabase } from "../service/test-databases.ts";

export interface IdentityServerOptions {
  config?: Partial<IdentityDeps["config"]>;
  clientMetadata?: IdentityDeps["clientMetadata"];
  /** By default the URL at which the server listens. */
  publicUrl?: string;
}

/** The identity provider with its own database, without the rest of the service. Clients use real HTTP. */
export interface IdentityServer extends AsyncDisposable {
  /** The URL at which the server listens. */
  url: string;
  orm: Orm;
  counter: MemoryCounter;
  tokenSecret: string;
  /** The ids of all users whose access rights may have changed. */
  announced: string[];
  /** All log lines so far. `level` is a number of pino, `identity` the level of a report of better-auth. */
  logged(): { level: number; msg: string; err?: unknown; identity?: string }[];
}

export async function startIdentityServer(options: IdentityServerOptions = {}): Promise<IdentityServer> {
  const { config, clientMetadata = null, publicUrl } = options;
  await using opening = new AsyncDisposableStack();
  const lines: string[] = [];
  const log = createLogger("trace", { write: (line) => void lines.push(line) });
  const { databaseUrl } = opening.use(await createTestDatabase());
  const { orm } = opening.use(await openDatabase({ databaseUrl, dataDirectory: "" }, log));
  const [counter, accessChanges, announced] = [new MemoryCounter(), new MemoryChangeFeed(), [] as string[]];
  accessChanges.listen((id) => void announced.push(id));
  const tokenSecret = "x".repeat(32);
  const server = fastify({ trustProxy: "127.0.0.1" });
  opening.defer(() => server.close());
  const getPublicUrl = () => publicUrl ?? server.listeningOrigin;
  const auth = openIdentity({
    orm,
    counter,
    accessChanges,
    config: { signUp: "open", social: { github: null, google: null }, appsDomain: null, ...config },
    clientMetadata,
    tokenSecret,
    publicUrl: getPublicUrl,
    log,
  });
  server.setErrorHandler(sendRequestError);
  await server.register(identityPlugin({ auth: () => Promise.resolve(auth()), publicUrl: getPublicUrl }));
  await server.listen({ host: "127.0.0.1", port: 0 });
  // The provider is created at the first request. Mutation testing would count that as code of the first test only.
  await fetch(`${server.listeningOrigin}/api/auth/ok`);
  const opened = opening.move();
  return {
    url: server.listeningOrigin,
    orm,
    counter,
    tokenSecret,
    announced,
    logged: () => lines.map((line) => JSON.parse(line)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Starts one identity provider for all tests of a file. */
export function sharedIdentityServer(options?: IdentityServerOptions): () => IdentityServer {
  let server: IdentityServer | undefined;
  beforeAll(async () => {
    server = await startIdentityServer(options);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === undefined) throw new Error("the identity provider of this file has not started");
    return server;
  };
}
