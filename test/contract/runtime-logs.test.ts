import { rm } from "node:fs/promises";
import path from "node:path";
import type { LoggedApp, RuntimeLogs } from "../../domain/ports/runtime-logs.ts";
import { EmbeddedRuntimeLogs } from "../../server/platforms/embedded/runtime-logs/embedded-runtime-logs.ts";
import { EdgeClient } from "../../server/platforms/remote/edge-client.ts";
import type { EdgePorts } from "../../server/platforms/remote/edge-methods.ts";
import { EdgeServer } from "../../server/platforms/remote/edge-server.ts";
import { openRemoteEdge } from "../../server/platforms/remote/remote-edge.ts";
import { TOKEN_SECRET } from "../support/edge/remote-edge.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runtimeLogsContract, type RuntimeLogsSetting } from "./runtime-logs.ts";

const log = { warn: () => undefined };

async function openEmbedded(): Promise<RuntimeLogsSetting & { path: string }> {
  const folder = await temporaryFolder();
  const folderOf = ({ slug, id }: LoggedApp) => path.join(folder.path, slug, id, "logs");
  let logs = new EmbeddedRuntimeLogs(folderOf);
  return {
    path: folder.path,
    get logs() {
      return logs;
    },
    async print(app, messages) {
      const { sink, close } = await logs.open(app, []);
      for (const message of messages) sink.print([Date.now(), "log", null, message]);
      close();
    },
    remove: (app) => rm(path.join(folder.path, app.slug), { recursive: true }),
    // What was not written within 100 ms is lost with a process, so the earlier one has nothing to write any more.
    restart: async () => void (logs = new EmbeddedRuntimeLogs(folderOf)),
    async [Symbol.asyncDispose]() {
      await logs.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The logs as a process without the role `edge` has them. */
async function openRemote(): Promise<RuntimeLogsSetting> {
  await using opening = new AsyncDisposableStack();
  const edge = opening.use(await openEmbedded());
  const url = await listen(edge, "127.0.0.1", opening);
  return connect(edge, [url], opening.move());
}

/** Two edges, of which the second one runs the apps. */
async function openSeveral(): Promise<RuntimeLogsSetting> {
  await using opening = new AsyncDisposableStack();
  const idle = opening.use(await openEmbedded());
  const edge = opening.use(await openEmbedded());
  const urls = [await listen(idle, "127.0.0.1", opening), await listen(edge, "127.0.0.2", opening)];
  return connect(edge, urls, opening.move());
}

async function listen(
  edge: RuntimeLogsSetting & { path: string },
  host: string,
  opening: AsyncDisposableStack,
): Promise<string> {
  const runtimeLogs: RuntimeLogs = {
    read: (app) => edge.logs.read(app),
    listen: (app, listener) => edge.logs.listen(app, listener),
  };
  const server = opening.use(
    await EdgeServer.listen({
      ports: { runtimeLogs } as EdgePorts,
      installation: { id: "installation", epoch: 1, state: "active" },
      tokenSecret: TOKEN_SECRET,
      host,
      port: 0,
      dataDirectory: edge.path,
      log,
    }),
  );
  return `https://${host}:${server.port}`;
}

function connect(edge: RuntimeLogsSetting, urls: string[], opened: AsyncDisposableStack): RuntimeLogsSetting {
  const client = opened.use(new EdgeClient({ urls, tokenSecret: TOKEN_SECRET }));
  const { runtimeLogs: logs } = openRemoteEdge({ client, urlOf: (slug) => `http://${slug}.localhost`, log });
  return {
    ...{ logs, print: edge.print, remove: edge.remove, restart: edge.restart },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

runtimeLogsContract("embedded", openEmbedded);
runtimeLogsContract("of another process", openRemote);
runtimeLogsContract("of one of several processes", openSeveral);
