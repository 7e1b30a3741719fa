import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../../domain/shared/caller.ts";
import { RateLimited, ServiceError } from "../../../domain/shared/errors.ts";
import type { EventReader } from "../../../domain/shared/stream-events.ts";
import { getAccessError } from "../../../routers/core/access.ts";
import type { Service } from "../../../routers/core/context.ts";
import { fromValidation } from "../../../routers/core/invalid-input.ts";
import { authenticateRequest, type RequestAuthentication } from "../../auth/authenticator.ts";
import { type ReachedLimit, StreamLimiter, type StreamLimits } from "../../http/stream-limiter.ts";
import { type StreamRevocation, watchStreams } from "../../http/stream-revocation.ts";
import type { Operation } from "../operations.ts";
import { EventStream } from "./event-stream.ts";
import type { StreamedOperation } from "./streamed-operations.ts";

/** Proxies close a connection on which nothing was sent for half a minute to a minute. In milliseconds. */
const KEEP_ALIVE_MS = 15_000;
const RETRY_SECONDS = 5;

/** Many members watch one build with the token of a program, so a token has no limit of its own. */
const STREAM_LIMITS: StreamLimits = { perToken: 256, perOrganization: 256, perProcess: 2048 };

export interface OpenStreamsOptions extends RequestAuthentication {
  service: Service;
}

/** The open streams of this process, within their limits. */
export class OpenStreams {
  readonly #service: Service;
  readonly #limiter = new StreamLimiter(STREAM_LIMITS);
  readonly #revocation: StreamRevocation;
  readonly #streams = new Set<EventStream>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(scope: FastifyInstance, { service, ...authentication }: OpenStreamsOptions) {
    this.#service = service;
    this.#revocation = watchStreams(service.accessChanges, (request) => mayRead(request, authentication));
    this.#timer = setInterval(() => {
      for (const stream of this.#streams) stream.keepAlive();
    }, KEEP_ALIVE_MS).unref();
    // The server waits for its connections to end before it closes.
    scope.addHook("preClose", async () => this.#close());
  }

  /**
   * Responds to an operation with its stream.
   *
   * @param input - the input of the operation, not validated
   * @throws {ServiceError} for every reason for which the operation itself would be rejected
   */
  async respond(
    { operation, streamed }: { operation: Operation; streamed: StreamedOperation },
    input: unknown,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { caller, headers, method } = reply.request;
    if (caller === null) throw new Error("a request got a stream before it was authenticated");
    const accessError = getAccessError(caller, "query", operation.access);
    if (accessError !== null) throw accessError;
    const valid = operation.input?.safeParse(input);
    if (valid?.success === false) throw fromValidation(valid.error, operation.path);
    const lastEventId = readLastEventId(headers["last-event-id"]);
    const source = await streamed.open(this.#service, caller, valid?.data as never, lastEventId);
    // Browsers connect again after every end of a stream, except after this response.
    if (source === null) return reply.code(204).send();
    const stream = this.#add(source, caller);
    void reply.headers({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
    if (method === "HEAD") {
      stream.destroy();
      return reply.send("");
    }
    this.#revocation.watch(stream, reply.request);
    return reply.send(stream);
  }

  #add(source: EventReader, caller: Caller): EventStream {
    const stream = new EventStream(source);
    const reached = this.#limiter.add(stream, caller);
    if (reached !== null || this.#isClosed) {
      stream.destroy();
      throw reached === null ? new ServiceError("unavailable", STOPPING) : tooManyStreams(reached);
    }
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    return stream;
  }

  #close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#revocation.stop();
    for (const stream of this.#streams) stream.end();
  }
}

const STOPPING = "The service is stopping. Try again.";

function tooManyStreams({ limit, of }: ReachedLimit): ServiceError {
  if (of === "process") return new ServiceError("unavailable", "Too many streams are open. Try again later.");
  const message = `Your organization has ${limit} open streams, which is the limit. Close some, then try again.`;
  return new RateLimited(message, RETRY_SECONDS);
}

/** Clients without an id omit the header or leave it empty. */
function readLastEventId(header: string | string[] | undefined): string | null {
  return header === undefined || header === "" ? null : String(header);
}

/** Whether the token of an open stream is still valid for the same organization. */
async function mayRead(request: FastifyRequest, authentication: RequestAuthentication): Promise<boolean> {
  try {
    const current = await authenticateRequest(request, authentication);
    return current !== null && current.orgId === request.caller?.orgId;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "forbidden") return false;
    throw error;
  }
}

/**
 * Whether a request asks for the stream of an operation.
 *
 * @throws {ServiceError} `invalid` for an invalid value
 */
export function wantsStream({ query, headers }: Pick<FastifyRequest, "query" | "headers">): boolean {
  const { follow } = query as { follow?: unknown };
  if (follow === undefined) return /^text\/event-stream\b/i.test(headers.accept ?? "");
  if (follow === "false") return false;
  if (follow === "" || follow === "true") return true;
  throw new ServiceError("invalid", "follow: must be true or false, or have no value.");
}
