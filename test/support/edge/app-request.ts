import { request } from "node:http";

export interface AppResponse {
  status: number;
  text: string;
}

/**
 * Sends a request to a deployed app, as a browser does. Browsers resolve `*.localhost` to this machine. Node does not, and
 * its `fetch` ignores a `host` header, so this function connects by address.
 */
export async function appRequest(
  url: string,
  {
    method = "GET",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<AppResponse> {
  const { hostname, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path: pathname + search,
        method,
        headers: { ...headers, host: `${hostname}:${port}` },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
