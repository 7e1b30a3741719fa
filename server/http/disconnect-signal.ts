import type { FastifyReply } from "fastify";

/** Creates a signal that is aborted when the client disconnects before it has the response. */
export function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
