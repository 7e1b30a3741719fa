/** The path, in every sandbox, of the Node.js that runs the service. */
export const SANDBOX_NODE = "/opt/node/bin/node";

/** The URL of the proxy, for a command with the network `proxy`. `HTTP_PROXY` and `HTTPS_PROXY` contain it too. */
export const SANDBOX_PROXY_URL = "http://127.0.0.1:3128";

/** The variables that name a proxy, in both spellings: curl reads lower case, npm and others read upper case. */
export function proxyVariables(url: string): Record<string, string> {
  return { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url };
}
