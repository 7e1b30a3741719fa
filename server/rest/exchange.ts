import type { TRPCError } from "@trpc/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { metaOf } from "./procedure-meta.ts";
import { answerTo } from "./error-status.ts";

/** Everything trpc-to-openapi needs of a Node response, landing in a Fastify reply. */
export class Sink {
  statusCode = 200;
  error: TRPCError | null = null;
  path: string | undefined;
  readonly #reply: FastifyReply;

  constructor(reply: FastifyReply) {
    this.#reply = reply;
  }

  setHeader(name: string, value: string): void {
    void this.#reply.header(name, value);
  }

  end(body: string): void {
    if (this.error === null) return void this.#reply.code(this.statusCode).send(body);
    const answer = answerTo(this.error, metaOf(this.path)?.openapi?.path);
    if (answer.status >= 500)
      this.#reply.log.error({ err: this.error.cause ?? this.error, procedure: this.path }, "a procedure failed");
    void this.#reply.code(answer.status).headers(answer.headers).send(answer.body);
  }
}

/**
 * The request side. It claims to be a `Request` because trpc-to-openapi then takes `signal` from it, where it would
 * otherwise build a whole `Request` (headers, URL, body stream) per call just to get one.
 */
export class Source {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly query: unknown;
  readonly headers: object;
  readonly signal = new AbortController().signal;
  readonly incoming: FastifyRequest;
  readonly sink: Sink;

  constructor(request: FastifyRequest, sink: Sink) {
    this.method = request.method;
    this.url = request.raw.url ?? "/";
    this.body = request.body;
    this.query = request.query;
    // A media type is case-insensitive (RFC 9110, section 8.3.1), and trpc-to-openapi compares it as it stands.
    const contentType = request.headers["content-type"]?.toLowerCase();
    const headers = { ...request.headers, "content-type": contentType };
    this.headers = { ...headers, get: (name: keyof typeof headers) => headers[name] };
    this.incoming = request;
    this.sink = sink;
  }
}
Object.setPrototypeOf(Source.prototype, Request.prototype);
