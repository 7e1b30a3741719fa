import path from "node:path";
import { EmbeddedAppData } from "../../../server/app-files/embedded-app-data.ts";
import type { EmbeddedPlatformOptions } from "../../../server/platforms/embedded/open-embedded-platform.ts";
import { EdgeClient } from "../../../server/platforms/remote/edge-client.ts";
import type { EdgePorts } from "../../../server/platforms/remote/edge-methods.ts";
import { EdgeServer } from "../../../server/platforms/remote/edge-server.ts";
import { openRemoteEdge } from "../../../server/platforms/remote/remote-edge.ts";
import { openTestPlatform, type TestPlatform } from "./test-platform.ts";

export const TOKEN_SECRET = "a-secret-of-32-characters-or-more";
const log = { warn: () => undefined };

interface TestEdgeOptions {
  limits?: EmbeddedPlatformOptions["limits"];
  /** The address of its internal port. */
  host?: string;
  /** Changes the ports that it offers. */
  change?: (ports: EdgePorts) => EdgePorts;
}

/** An embedded platform behind the internal port of an edge. */
export interface TestEdge extends AsyncDisposable {
  t: TestPlatform;
  port: number;
  url: string;
  /** Closes the internal port with all its connections. */
  disconnect(): Promise<void>;
  /** Opens the same internal port again. */
  listen(): Promise<void>;
}

export async function openTestEdge({
  limits = {},
  host = "127.0.0.1",
  change = (ports) => ports,
}: TestEdgeOptions = {}): Promise<TestEdge> {
  await using opening = new AsyncDisposableStack();
  const t = opening.use(await openTestPlatform({ limits }));
  const { scripts, data, ...platform } = t.platform;
  const workFolder = path.join(t.dataDirectory, "app-data-copies");
  const appData = await EmbeddedAppData.open({ ...data, workFolder, variables: t.variables });
  const listen = (port: number) =>
    EdgeServer.listen({
      ports: change({ ...platform, platform: scripts, appData }),
      installation: { id: "installation", epoch: 1, state: "active" },
      tokenSecret: TOKEN_SECRET,
      host,
      port,
      dataDirectory: t.dataDirectory,
      log,
    });
  let server: EdgeServer | null = await listen(0);
  const { port } = server;
  const disconnect = async (): Promise<void> => {
    await server?.[Symbol.asyncDispose]();
    server = null;
  };
  opening.defer(disconnect);
  const opened = opening.move();
  return {
    ...{ t, port, url: `https://${host}:${port}`, disconnect },
    async listen() {
      server = await listen(port);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export interface RemoteEdge extends TestEdge {
  ports: EdgePorts;
  /** The ports as another process has them. */
  connect(): EdgePorts;
}

export async function openRemoteTestEdge(): Promise<RemoteEdge> {
  await using opening = new AsyncDisposableStack();
  const edge = opening.use(await openTestEdge());
  const opened = opening.move();
  const connect = () => {
    const client = opened.use(new EdgeClient({ urls: [edge.url], tokenSecret: TOKEN_SECRET }));
    return openRemoteEdge({ client, urlOf: (slug) => edge.t.platform.scripts.urlOf(slug), log });
  };
  return { ...edge, ports: connect(), connect, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Two edges, as a process without the role `edge` has them. Each has data of its own. */
export interface TwoEdges extends AsyncDisposable {
  /** It is called first. */
  first: TestEdge;
  second: TestEdge;
  client: EdgeClient;
  ports: EdgePorts;
}

/** @param options.change - changes the ports that the first edge offers */
export async function openTwoEdges({
  change,
  limits = {},
  patienceMs,
}: Omit<TestEdgeOptions, "host"> & { patienceMs?: number } = {}): Promise<TwoEdges> {
  await using opening = new AsyncDisposableStack();
  const first = opening.use(await openTestEdge({ limits, ...(change && { change }) }));
  const second = opening.use(await openTestEdge({ limits, host: "127.0.0.2" }));
  const urls = [first.url, second.url];
  const patience = patienceMs === undefined ? {} : { patienceMs };
  const client = opening.use(new EdgeClient({ urls, tokenSecret: TOKEN_SECRET, ...patience }));
  const ports = openRemoteEdge({ client, urlOf: (slug) => `http://${slug}.localhost`, log });
  const opened = opening.move();
  return { first, second, client, ports, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
