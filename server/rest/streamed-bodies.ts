import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { StreamedConnections } from "../http/client-errors.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { bodyTooLarge, UnreadableBody } from "./request-body.ts";

/** A client that sends nothing for so long counts as gone. In milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** How long a whole body may take to arrive, in milliseconds. */
const MAX_TOTAL_MS = 600_000;
/** How slowly a body may arrive, in bytes per second, once it has been arriving for so long. */
const MIN_RATE = 4096;
const GRACE_MS = 30_000;

/** The request bodies that procedures read while they arrive. */
export class StreamedBodies {
  readonly #connections: StreamedConnections;
  readonly #open = new Set<OpenBody>();
  #isClosed = false;

  /** @param connections - gets the connections on which bodies are arriving, since they may take longer than other requests */
  constructor(scope: FastifyInstance, connections: StreamedConnections) {
    this.#connections = connections;
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
    this.#connections.add(request.socket);
    try {
      let bytes = 0;
      for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
        bytes += chunk.length;
        if (bytes > limit) throw bodyTooLarge(limit);
        if (body.isTooSlow(bytes)) throw incomplete();
        yield chunk;
      }
    } finally {
      this.#open.delete(body);
      this.#connections.delete(request.socket);
    }
  }
}

class OpenBody {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #startedAt = performance.now();
  readonly #deadline = this.#startedAt + MAX_TOTAL_MS;
  #failure: ServiceError | null = null;
  #rejectCurrent: (error: ServiceError) => void = () => undefined;

  constructor(request: IncomingMessage) {
    // A request that is destroyed closes its connection, and gets no response.
    this.#chunks = request.iterator({ destroyOnReturn: false });
  }

  /** Whether the bytes that have arrived are fewer than the minimum rate allows. */
  isTooSlow(bytes: number): boolean {
    const elapsedMs = performance.now() - this.#startedAt;
    return elapsedMs > GRACE_MS && bytes < (MIN_RATE * elapsedMs) / 1000;
  }

  /** Makes the current and the next read fail. */
  fail(error: ServiceError): void {
    this.#failure = error;
    this.#rejectCurrent(error);
  }

  /** @returns `null` at the end of the body */
  async next(): Promise<Uint8Array | null> {
    if (this.#failure !== null) throw this.#failure;
    const waitMs = Math.min(MAX_PAUSE_MS, this.#deadline - performance.now());
    const timer = setTimeout(() => this.fail(incomplete()), waitMs);
    try {
      const { done, value } = await this.#receive();
      return done === true ? null : value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A race against one promise for the whole body would keep all chunks in memory until the end. */
  #receive(): Promise<IteratorResult<Uint8Array>> {
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array>>();
    this.#rejectCurrent = reject;
    this.#chunks.next().then(resolve, (cause: unknown) => reject(incomplete(cause)));
    return promise;
  }
}

function incomplete(cause?: unknown): UnreadableBody {
  return new UnreadableBody(400, "The request body did not arrive completely. Send the request again.", { cause });
}

function stopping(): ServiceError {
  return new ServiceError("unavailable", "The service is stopping. Send the request again.");
}
