import type { IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import type { Socket } from "node:net";
import type { ClientOptions, WebSocket } from "ws";
import { AgentHostError } from "../../../../domain/ports/agent-host.ts";
import { resolveTarget, type TargetRules } from "./gateway-target.ts";

export interface SocketOptions extends TargetRules {
  /** Certificates of trusted authorities in PEM, instead of those that Node.js trusts. */
  trustedCertificates?: string | undefined;
  /** The largest message that is read, in bytes. */
  maxMessageBytes: number;
}

export interface OpenSocket {
  /** Paused. */
  socket: WebSocket;
  /** The connection below, whose data has not been read yet. */
  connection: Socket;
}

/**
 * Opens a WebSocket. It connects to the same addresses that it checked, so that a name cannot resolve to another address in
 * between (DNS rebinding), and follows no redirect. A larger message than allowed ends the connection before it is read.
 *
 * @throws {AgentHostError} `unreachable` or `unsupported`, or the reason of the signal
 */
export async function openSocket(text: string, options: SocketOptions, signal: AbortSignal): Promise<OpenSocket> {
  const url = new URL(text);
  const addresses = await resolveTarget(url, options, signal);
  signal.throwIfAborted();
  const socketOptions: ClientOptions & RequestOptions & { autoSelectFamily: boolean } = {
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: options.maxMessageBytes,
    headers: { "user-agent": "app-provisioning-service" },
    lookup: (_host, _options, done) => done(null, [...addresses]),
    autoSelectFamily: true,
    rejectUnauthorized: true,
    ...(options.trustedCertificates !== undefined && { ca: options.trustedCertificates }),
  };
  const { WebSocket: Client } = await import("ws");
  signal.throwIfAborted();
  const socket = new Client(url, socketOptions);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const abort = (): void => socket.terminate();
  signal.addEventListener("abort", abort, { once: true });
  // The listener stays, because an error without one would end the process. After an error, the socket closes.
  socket.on("error", (error) => reject(signal.aborted ? (signal.reason as Error) : explainError(error)));
  socket.once("upgrade", ({ socket: connection }: IncomingMessage) =>
    socket.once("open", () => {
      // The gateway sends at once. Nothing is lost while the caller adds its listeners.
      socket.pause();
      resolve(connection);
    }),
  );
  try {
    return { socket, connection: await promise };
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

/** The message states only the kind of the error, because the error contains addresses and text of the host. */
function explainError(error: Error & { code?: unknown }): AgentHostError {
  const code = typeof error.code === "string" ? error.code : "";
  const options = { cause: error };
  const status = /^Unexpected server response: (\d{3})$/.exec(error.message)?.[1];
  if (status !== undefined)
    return new AgentHostError(
      "unsupported",
      `The host responds with HTTP status ${status}, and not as an OpenClaw gateway. Check the URL.`,
      options,
    );
  if (CERTIFICATE.test(code))
    return new AgentHostError("unreachable", "The certificate of the gateway is not valid for its host name.", options);
  if (code === "ECONNREFUSED") return new AgentHostError("unreachable", "The gateway refuses connections.", options);
  return new AgentHostError("unreachable", "The gateway cannot be reached.", options);
}
