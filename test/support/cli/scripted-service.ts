import { type LoopbackServer, startLoopbackServer } from "../loopback-server.ts";

/** Starts a service that is not ours, and returns skills with any name and path. */
export function startScriptedService(skills: { name: string; files: string[] }[]): Promise<LoopbackServer> {
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
  return startLoopbackServer((request, response) => {
    const procedure = new URL(request.url ?? "", "http://x").pathname.slice("/trpc/".length);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ result: { data: responses[procedure] } }));
  });
}

/** Starts a service that never responds. `requested` is settled by the first request. */
export async function startSilentService(): Promise<LoopbackServer & { requested: Promise<void> }> {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  return Object.assign(await startLoopbackServer(() => resolve()), { requested });
}
