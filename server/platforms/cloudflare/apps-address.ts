import http from "node:http";
import https from "node:https";

/** Where this process reaches all apps: the dispatch worker, by its host names. */
export interface AppsAddress {
  scheme: "http" | "https";
  /** The domain of all apps, with its port if any. */
  domain: string;
}

/** The URL of an app. */
export function appUrl({ scheme, domain }: AppsAddress, slug: string): string {
  return `${scheme}://${slug}.${domain}`;
}

/** Whether apps are below `localhost`, which has no certificates. */
export function isLocalDomain(domain: string): boolean {
  return /(^|\.)localhost(:\d+)?$/i.test(domain);
}

/** How to connect to the host of a URL. Names below `localhost` are of this machine, whatever the resolver knows. */
export function addressOf(url: string): { host: string; port: number; hostHeader: string; isTls: boolean } {
  const { protocol, hostname, port, host } = new URL(url);
  const isTls = protocol === "https:";
  return {
    host: isLocalDomain(hostname) ? "127.0.0.1" : hostname,
    port: port === "" ? (isTls ? 443 : 80) : Number(port),
    hostHeader: host,
    isTls,
  };
}

export interface RootResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The beginning of the body. */
  text: string;
}

const MAX_TEXT_BYTES = 4096;

/** Requests `/` of an app. */
export function requestRoot(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<RootResponse> {
  const { isTls, hostHeader, ...address } = addressOf(url);
  const { get } = isTls ? https : http;
  return new Promise((resolve, reject) => {
    const options = {
      ...address,
      path: "/",
      headers: { host: hostHeader, ...headers },
      agent: false,
      signal,
    };
    const sent = get(options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = () => {
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: response.headers, text: Buffer.concat(chunks).toString() });
        response.destroy();
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > MAX_TEXT_BYTES) finish();
      });
      response.on("end", finish).on("error", reject);
    });
    sent.on("error", reject);
  });
}
