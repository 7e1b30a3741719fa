import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

interface ForeignService extends AsyncDisposable {
  url: string;
}

/** Starts a service that is not ours, and returns skills with any name and path. */
export function startForeignService(skills: { name: string; files: string[] }[]): Promise<ForeignService> {
  const hash = "0".repeat(64);
  const responses: Record<string, unknown> = {
    "agents.get": { server_kind: "managed" },
    "instructions.get": { content: "", content_hash: hash },
    "skills.list": { skills: skills.map(({ name }) => ({ name, content_hash: hash })), next_cursor: null },
    "agentSkills.list": { skills: skills.map(({ name }) => ({ name, missing: [] })), next_cursor: null },
    "skills.files": {
      files: skills.flatMap(({ files }) => files.map((file) => ({ path: file, content: "x", encoding: "utf-8" }))),
    },
  };
  return listen((request, response) => {
    const procedure = new URL(request.url ?? "", "http://x").pathname.slice("/trpc/".length);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ result: { data: responses[procedure] } }));
  });
}

/** Starts a service that never responds. `requested` is settled by the first request. */
export async function startSilentService(): Promise<ForeignService & { requested: Promise<void> }> {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  return Object.assign(await listen(() => resolve()), { requested });
}

async function listen(respond: RequestListener): Promise<ForeignService> {
  const server = createServer(respond).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
