import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Download } from "../../domain/exports/export-app.ts";

/** A client that receives nothing for so long counts as gone. In milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** How slowly a client may receive, in bytes per second, once it has been receiving for so long. */
const MIN_RATE = 4096;
const GRACE_MS = 30_000;

/**
 * Responds with a file. A client that goes away, stalls or is too slow ends it: only a few exports can be downloaded at the same time, so it
 * would keep others from theirs.
 */
export function sendDownload(reply: FastifyReply, { name, content, close }: Download): FastifyReply {
  const { raw } = reply;
  raw.once("close", close);
  if (raw.destroyed) close();
  raw.setTimeout(MAX_PAUSE_MS, () => raw.destroy());
  // Names of files are slugs.
  reply.header("content-disposition", `attachment; filename="${name}"`);
  return reply.send(Readable.from(requireRate(content), { objectMode: false }));
}

async function* requireRate(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const startedAt = performance.now();
  let bytes = 0;
  for await (const chunk of content) {
    yield chunk;
    bytes += chunk.length;
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > GRACE_MS && bytes < (MIN_RATE * elapsedMs) / 1000)
      throw new Error("the client receives a download too slowly");
  }
}
