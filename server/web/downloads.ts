import { readFile } from "node:fs/promises";
import path from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { nullIfMissing } from "../files/missing-file.ts";
import { withServiceUrl } from "./extension-bundle.ts";
import { selectOwnOrigin } from "../http/own-origins.ts";

/** The folder in which `npm run setup` stores the packages of the clients. */
const BUILD_FOLDER = path.resolve(import.meta.dirname, "../../.cache/downloads");

const FILES = ["sdk.tgz", "cli.tgz"] as const;
const EXTENSION = "service.mcpb";

const NOT_BUILT = "This package is not built. Run npm run setup, or npm run build.";

export interface DownloadsOptions {
  publicUrl: () => string;
  folder?: string;
}

/** Serves the packages of the clients, without authentication: `npm install http://…/downloads/sdk.tgz` sends no token. */
export function downloadsPlugin({ publicUrl, folder = BUILD_FOLDER }: DownloadsOptions) {
  return async (scope: FastifyInstance): Promise<void> => {
    for (const file of FILES)
      scope.get(`/downloads/${file}`, async (_request, reply) => {
        const content = await readFile(path.join(folder, file)).catch(nullIfMissing);
        return send(reply, content, "application/gzip");
      });
    const extensions = new Extensions(path.join(folder, EXTENSION));
    scope.get(`/downloads/${EXTENSION}`, async ({ headers }, reply) => {
      const content = await extensions.read(selectOwnOrigin(publicUrl(), headers.host));
      void reply.header("content-disposition", `attachment; filename="${EXTENSION}"`);
      return send(reply, content, "application/octet-stream");
    });
  };
}

function send(reply: FastifyReply, content: Uint8Array | null, type: string): FastifyReply {
  if (content === null) return reply.removeHeader("content-disposition").code(503).send({ error: NOT_BUILT });
  return reply.type(type).header("cache-control", "no-cache").send(content);
}

/** The desktop extension with the URL of the service, cached by URL until the extension is built again. */
class Extensions {
  readonly #file: string;
  readonly #cached = new Map<string, { built: Buffer; content: Buffer }>();

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * @param url - one of the few own origins of the service
   * @returns `null` when the extension is not built
   */
  async read(url: string): Promise<Buffer | null> {
    const built = await readFile(this.#file).catch(nullIfMissing);
    if (built === null) return null;
    const cached = this.#cached.get(url);
    if (cached?.built.equals(built) === true) return cached.content;
    const content = Buffer.from(withServiceUrl(built, url));
    this.#cached.set(url, { built, content });
    return content;
  }
}
