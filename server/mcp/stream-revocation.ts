import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";

/** How often streams are looked at when nothing was announced, in milliseconds: a token also runs out by itself. */
const LOOK_AGAIN_MS = 10_000;

type MayGoOn = (request: FastifyRequest) => Promise<boolean>;

/** Ends every answer of `scope` that stays open as soon as its caller may no longer call. */
export function closeWhenRevoked(scope: FastifyInstance, accessChanges: ChangeFeed, mayGoOn: MayGoOn): void {
  const open = new Map<Readable, FastifyRequest>();
  const lookAgain = (): void => {
    for (const [stream, request] of open) void endUnless(stream, mayGoOn(request));
  };
  const timer = setInterval(lookAgain, LOOK_AGAIN_MS).unref();
  const unlisten = accessChanges.listen(lookAgain, lookAgain);
  scope.addHook("onSend", async (request, _reply, payload) => {
    if (payload instanceof Readable) {
      open.set(payload, request);
      payload.once("close", () => open.delete(payload));
    }
    return payload;
  });
  scope.addHook("preClose", async () => {
    clearInterval(timer);
    unlisten();
  });
}

async function endUnless(stream: Readable, mayGoOn: Promise<boolean>): Promise<void> {
  // A question that cannot be answered now is asked again.
  if (!(await mayGoOn.catch(() => true))) stream.destroy();
}
