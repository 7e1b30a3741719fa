import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** In the order of preference. */
const COMPRESSIONS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
} as const;

type Encoding = keyof typeof COMPRESSIONS;

/** A body that is the same for every request. It is compressed once for each encoding, at the first request that accepts it. */
export class CompressedBody {
  readonly #body: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Sends the body in the best encoding that the client accepts. */
  async send({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    void reply.header("vary", "accept-encoding");
    const encoding = chooseEncoding(headers["accept-encoding"]);
    if (encoding === null) return reply.send(this.#body);
    let compressed = this.#compressed.get(encoding);
    if (compressed === undefined) {
      compressed = COMPRESSIONS[encoding](this.#body);
      this.#compressed.set(encoding, compressed);
    }
    return reply.header("content-encoding", encoding).send(await compressed);
  }
}

/** @param accepted - the header `Accept-Encoding`, such as `gzip, br;q=0.5` */
function chooseEncoding(accepted = ""): Encoding | null {
  const names = new Set(
    accepted.split(",").flatMap((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
    }),
  );
  return (Object.keys(COMPRESSIONS) as Encoding[]).find((encoding) => names.has(encoding)) ?? null;
}
