/** Where every sandbox has the Node.js that runs the service. */
export const SANDBOX_NODE = "/opt/node/bin/node";

/** Where a command with the network `proxy` finds it; also in its `HTTP_PROXY` and `HTTPS_PROXY`. */
export const SANDBOX_PROXY_URL = "http://127.0.0.1:3128";
