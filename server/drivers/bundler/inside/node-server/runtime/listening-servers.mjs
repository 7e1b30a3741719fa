// Part of the runtime of Node servers in workerd.
import http from "node:http";

/** Shorter than the health check of a deployment, so that the reason is reported. */
const LISTEN_TIMEOUT_MS = 8000;

/**
 * Watches for servers that listen. Call it before the app is loaded.
 *
 * @returns `server` resolves with the first one, or with the one at the port of the environment if both listen at once
 */
export function watchServers() {
  const servers = [];
  const { promise: server, resolve, reject } = Promise.withResolvers();
  const { listen } = http.Server.prototype;
  http.Server.prototype.listen = function (...values) {
    const result = listen.apply(this, values);
    servers.push(this);
    setTimeout(() => resolve(servers.find(isAtPort) ?? servers[0]), 0);
    return result;
  };
  const late = () => reject(new Error(`The server did not listen on a port within ${LISTEN_TIMEOUT_MS / 1000} s.`));
  setTimeout(late, LISTEN_TIMEOUT_MS);
  server.catch(() => {});
  return { server, hasServer: () => servers.length > 0 };
}

function isAtPort(server) {
  return String(server.address()?.port) === process.env.PORT;
}
