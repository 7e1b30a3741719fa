/** A reverse proxy of Node.js that does nothing but forward: the least that a proxy in JavaScript needs for a request. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { serveCommands } from "../support/serve-commands.ts";

export interface BareProxyOptions {
  appPort: number;
}

export type BareProxyCommands = Awaited<ReturnType<typeof open>>["commands"];

async function open({ appPort }: BareProxyOptions) {
  const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 256 });
  const server = http.createServer(({ method, url, rawHeaders }, response) => {
    const options = { port: appPort, host: "127.0.0.1", method, path: url, headers: rawHeaders, agent } as const;
    http
      .get(options, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
        reply.pipe(response);
      })
      .on("error", () => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const commands = { port: () => (server.address() as AddressInfo).port };
  return {
    commands,
    close: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

await serveCommands(open);
