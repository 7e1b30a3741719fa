import { EdgeClient } from "../../../server/platforms/remote/edge-client.ts";
import type { EdgePorts } from "../../../server/platforms/remote/edge-methods.ts";
import { EdgeServer } from "../../../server/platforms/remote/edge-server.ts";
import { openRemoteEdge } from "../../../server/platforms/remote/remote-edge.ts";
import { openTestPlatform, type TestPlatform } from "./test-platform.ts";

export const TOKEN_SECRET = "a-secret-of-32-characters-or-more";
const log = { warn: () => undefined };

/** An embedded platform behind the internal port of an edge. */
export interface RemoteEdge extends AsyncDisposable {
  t: TestPlatform;
  port: number;
  ports: EdgePorts;
  /** The ports as another process has them. */
  connect(): EdgePorts;
  /** Closes the internal port with all its connections. */
  disconnect(): Promise<void>;
  /** Opens the same internal port again. */
  listen(): Promise<void>;
}

export async function openRemoteTestEdge(): Promise<RemoteEdge> {
  await using opening = new AsyncDisposableStack();
  const t = opening.use(await openTestPlatform());
  const { scripts, ...platform } = t.platform;
  const listen = (port: number) =>
    EdgeServer.listen({
      ports: { ...platform, platform: scripts },
      installation: { id: "installation", epoch: 1, state: "active" },
      tokenSecret: TOKEN_SECRET,
      host: "127.0.0.1",
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
  const connect = () => {
    const client = opened.use(new EdgeClient({ urls: [`https://127.0.0.1:${port}`], tokenSecret: TOKEN_SECRET }));
    return openRemoteEdge({ client, urlOf: (slug) => scripts.urlOf(slug), log });
  };
  return {
    ...{ t, port, ports: connect(), connect, disconnect },
    async listen() {
      server = await listen(port);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
