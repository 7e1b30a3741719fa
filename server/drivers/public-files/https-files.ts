import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { PublicFile, PublicFileRequest, PublicFiles } from "../../../domain/ports/public-files.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { readBody } from "../../http/read-body.ts";
import { RemoteFailure, RemoteFetcher, type RemoteFetcherOptions } from "../../sandbox/remote-fetcher.ts";

const MEBIBYTE = 1024 * 1024;
/** What is stored of a header. */
const MAX_VALIDATOR_LENGTH = 500;

/** Reads files over https from public hosts. */
export class HttpsFiles implements PublicFiles {
  readonly #fetcher: RemoteFetcher;

  constructor(options: RemoteFetcherOptions = {}) {
    this.#fetcher = new RemoteFetcher(options);
  }

  async read(url: string, request: PublicFileRequest): Promise<PublicFile | null> {
    const { etag, lastModified, maxBytes, signal } = request;
    try {
      const response = await this.#fetcher.fetch(new URL(url), {
        method: "GET",
        headers: {
          ...(etag !== null && { "if-none-match": etag }),
          ...(lastModified !== null && { "if-modified-since": lastModified }),
        },
        isConditional: etag !== null || lastModified !== null,
        signal,
      });
      try {
        return response.statusCode === 304 ? null : await readResponse(response, maxBytes);
      } finally {
        // After an error nothing more of the response is read.
        response.destroy();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      throw unreadable(error instanceof RemoteFailure ? error.message : "its host ended the response early", error);
    }
  }
}

async function readResponse(response: IncomingMessage, maxBytes: number): Promise<PublicFile> {
  const { headers } = response;
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    throw unreadable("its host compresses it, although the request forbids compression");
  const tooLarge = (): ServiceError => unreadable(`it has more than ${maxBytes / MEBIBYTE} MiB`);
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const content = await readBody(response, maxBytes);
  if (content === null) throw tooLarge();
  return {
    content,
    mediaType: readMediaType(headers),
    etag: readValidator(headers.etag),
    lastModified: readValidator(headers["last-modified"]),
  };
}

function readMediaType({ "content-type": type = "" }: IncomingHttpHeaders): string | null {
  const [essence = ""] = type.split(";", 1);
  return /^\s*([\w.+-]+\/[\w.+-]+)\s*$/.exec(essence)?.[1]?.toLowerCase() ?? null;
}

/** Returns a header that the next request sends back, if it has only characters that a header can have. */
function readValidator(value: string | undefined): string | null {
  return value !== undefined && value.length <= MAX_VALIDATOR_LENGTH && /^[\x20-\x7e]+$/.test(value) ? value : null;
}

function unreadable(reason: string, cause?: unknown): ServiceError {
  return new ServiceError("invalid", `The URL cannot be read: ${reason}.`, { cause });
}
