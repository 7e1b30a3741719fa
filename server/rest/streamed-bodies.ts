import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { ServiceError } from "../../domain/shared/errors.ts";
import { bodyTooLarge, UnreadableBody } from "./request-body.ts";

/** A client that sends nothing for so long counts as gone. In milliseconds. */
const MAX_PAUSE_MS = 30_000;

/** The request bodies that procedures read while they arrive. */
export class StreamedBodies {
  readonly #open = new Set<OpenBody>();
  #isClosed = false;

  constructor(scope: FastifyInstance) {
    // The server waits for its requests to end before it closes.
    scope.addHook("preClose", async () => {
      this.#isClosed = true;
      for (const body of this.#open) body.fail(stopping());
    });
  }

  /**
   * Returns the bytes of a request body. They are received as fast as they are read.
   *
   * @param limit - the maximum size, in bytes
   * @throws {ServiceError} while they are read: `UnreadableBody` for a body that is too large or incomplete; `unavailable`
   *   when the service stops
   */
  async *read(request: IncomingMessage, limit: number): AsyncGenerator<Uint8Array> {
    if (Number(request.headers["content-length"] ?? 0) > limit) throw bodyTooLarge(limit);
    if (this.#isClosed) throw stopping();
    const body = new OpenBody(request);
    this.#open.add(body);
    try {
      let bytes = 0;
      for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
        bytes += chunk.length;
        if (bytes > limit) throw bodyTooLarge(limit);
        yield chunk;
      }
    } finally {
      this.#open.delete(body);
    }
  }
}

class OpenBody {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #failure = Promise.withResolvers<never>();

  constructor(request: IncomingMessage) {
    // A request that is destroyed closes its connection, and gets no response.
    this.#chunks = request.iterator({ destroyOnReturn: false });
    this.#failure.promise.catch(() => undefined);
  }

  /** Makes the current and the next read fail. */
  fail(error: ServiceError): void {
    this.#failure.reject(error);
  }

  /** @returns `null` at the end of the body */
  async next(): Promise<Uint8Array | null> {
    const timer = setTimeout(() => this.fail(incomplete()), MAX_PAUSE_MS);
    try {
      const received = this.#chunks.next().catch((cause: unknown) => {
        throw incomplete(cause);
      });
      const { done, value } = await Promise.race([received, this.#failure.promise]);
      return done === true ? null : value;
    } finally {
      clearTimeout(timer);
    }
  }
}

function incomplete(cause?: unknown): UnreadableBody {
  return new UnreadableBody(400, "The request body did not arrive completely. Send the request again.", { cause });
}

function stopping(): ServiceError {
  return new ServiceError("unavailable", "The service is stopping. Send the request again.");
}
