import type { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";

/** Streams are also checked without an announced change, because a token can expire. In milliseconds. */
const CHECK_INTERVAL_MS = 10_000;

export interface StreamRevocation {
  /** Closes the response stream of a request when the request's credentials become invalid. */
  watch(stream: Readable, request: FastifyRequest): void;
  stop(): void;
}

/** Watches open response streams, and closes those whose credentials are no longer valid. */
export function watchStreams(
  accessChanges: ChangeFeed,
  isStillAuthenticated: (request: FastifyRequest) => Promise<boolean>,
): StreamRevocation {
  const requestByStream = new Map<Readable, FastifyRequest>();
  const check = async (stream: Readable, request: FastifyRequest): Promise<void> => {
    // If the check itself fails, the next one decides.
    if (!(await isStillAuthenticated(request).catch(() => true))) stream.destroy();
  };
  const checkAll = (): void => {
    for (const [stream, request] of requestByStream) void check(stream, request);
  };
  const timer = setInterval(checkAll, CHECK_INTERVAL_MS).unref();
  const unlisten = accessChanges.listen(checkAll, checkAll);
  return {
    watch(stream, request) {
      requestByStream.set(stream, request);
      stream.once("close", () => requestByStream.delete(stream));
    },
    stop() {
      clearInterval(timer);
      unlisten();
    },
  };
}
