import { readFile } from "node:fs/promises";
import path from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { nullIfMissing } from "../files/missing-file.ts";

/** The folder in which `npm run setup` stores the packages of the clients. */
const BUILD_FOLDER = path.resolve(import.meta.dirname, "../../.cache/downloads");

const FILES = ["sdk.tgz", "cli.tgz"] as const;

const NOT_BUILT = "This package is not built. Run npm run setup, or npm run build.";

/** Serves the packages of the clients, without authentication: `npm install http://…/downloads/sdk.tgz` sends no token. */
export function downloadsPlugin(folder: string = BUILD_FOLDER) {
  return async (scope: FastifyInstance): Promise<void> => {
    for (const file of FILES)
      scope.get(`/downloads/${file}`, async (_request, reply) => sendPackage(reply, path.join(folder, file)));
  };
}

async function sendPackage(reply: FastifyReply, file: string): Promise<FastifyReply> {
  const content = await readFile(file).catch(nullIfMissing);
  if (content === null) return reply.code(503).send({ error: NOT_BUILT });
  return reply.type("application/gzip").header("cache-control", "no-cache").send(content);
}
