// Runs in workerd, in the bundle of a Node server. Loads the server when the first request arrives, and passes requests to
// the port on which it listens.
import { watchServers } from "./listening-servers.mjs";
import { defineLoaders } from "./modules.mjs";
import { allowCodeGeneration, prepareProcess, watchExit } from "./process.mjs";
import { correctResponses } from "./responses.mjs";
import { supportAssignedSockets } from "./upgraded-responses.mjs";
import { upgrade } from "./web-sockets.mjs";

/**
 * The server runs in one durable object, which all requests share: under workerd, timers and connections belong to one
 * request otherwise. Without the binding, in a test run, it runs in the requests themselves.
 *
 * @param {object} app
 * @param {string} app.entry the file that starts the server, relative to the root of the repository
 * @param {() => Promise<Record<string, unknown>>} app.load imports it
 * @param {object} workerd
 * @param {Function} workerd.DurableObject the class of `cloudflare:workers`
 * @param {Function} workerd.httpServerHandler the function of `cloudflare:node`
 */
export function createNodeServer(app, { DurableObject, httpServerHandler }) {
  let handler;
  async function handle(request, env, context) {
    try {
      handler ??= startServer(app, env, httpServerHandler);
      await handler;
    } catch (error) {
      // The health check of the deployment reports the last error of the log, and reads the header.
      console.error(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      return new Response("The server did not start.", { status: 500, headers: { "x-server-start": "failed" } });
    }
    return (await handler).fetch(request, env, context);
  }
  class NodeServer extends DurableObject {
    fetch(request) {
      return handle(request, this.env, this.ctx);
    }
  }
  const worker = {
    fetch(request, env, context) {
      const servers = env.NODE_SERVER;
      return servers ? servers.get(servers.idFromName("server")).fetch(request) : handle(request, env, context);
    },
  };
  return { NodeServer, worker };
}

async function startServer({ entry, load }, env, httpServerHandler) {
  prepareProcess(entry);
  defineLoaders();
  allowCodeGeneration(env.NODE_SERVER_EVAL);
  correctResponses();
  supportAssignedSockets();
  const listening = watchServers();
  const restoreClasses = keepClasses();
  const { exited, restore } = watchExit();
  try {
    const { default: exported } = await Promise.race([load(), exited]);
    if (typeof exported?.fetch === "function") return exported;
    // As platforms for functions do, with an app that is exported and not started.
    if (!listening.hasServer() && typeof exported?.listen === "function") exported.listen(process.env.PORT);
    const server = await Promise.race([listening.server, exited]);
    return withUpgrades(server, httpServerHandler(server));
  } finally {
    restore();
    restoreClasses();
  }
}

/** Requests for a WebSocket go to the listeners of the server, if it has any. */
function withUpgrades(server, handler) {
  const isUpgrade = (request) =>
    request.headers.get("upgrade")?.toLowerCase() === "websocket" && server.listenerCount("upgrade") > 0;
  return {
    fetch: async (request, env, context) =>
      isUpgrade(request) ? upgrade(server, request) : keepEncoding(await handler.fetch(request, env, context)),
  };
}

/** The server has compressed the body that has this header. Otherwise workerd compresses it a second time. */
function keepEncoding(response) {
  const { body, status, statusText, headers } = response;
  return headers.has("content-encoding")
    ? new Response(body, { status, statusText, headers, encodeBody: "manual" })
    : response;
}

/** Packages such as @hono/node-server replace these classes by their own, which workerd does not accept. */
function keepClasses() {
  const { Request, Response } = globalThis;
  const define = () => {
    for (const [name, value] of Object.entries({ Request, Response }))
      Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };
  // A property that exists already stays configurable when a package defines it.
  define();
  return define;
}
