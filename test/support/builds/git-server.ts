import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface GitServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The `Authorization` headers of all requests, in order. */
  authorizations: (string | undefined)[];
}

/** May respond to a request instead of git. Returns whether it has responded. */
export type RequestOverride = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Serves the bare repositories in the folder `base` with git's own HTTP backend. */
export async function gitServer(base: string, override: RequestOverride = () => false): Promise<GitServer> {
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    if (!override(request, response)) runBackend(base, request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authorizations,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Speaks CGI (RFC 3875): request headers are environment variables, and the output starts with a header block. */
function runBackend(base: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://server");
  const backend = spawn("git", ["-c", "safe.directory=*", "http-backend"], {
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_PROJECT_ROOT: base,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  backend.stdin.on("error", () => undefined);
  request.pipe(backend.stdin);
  response.on("close", () => backend.kill());
  let head = Buffer.alloc(0);
  backend.stdout.on("data", function readHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    backend.stdout.off("data", readHead);
    writeHead(response, head.subarray(0, end).toString());
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  });
}

function writeHead(response: ServerResponse, head: string): void {
  const headers = head.split("\r\n").map((line) => line.split(": ", 2) as [string, string]);
  const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
  for (const [name, value] of headers) if (name !== "Status") response.setHeader(name, value);
  response.writeHead(Number.parseInt(status, 10));
}
