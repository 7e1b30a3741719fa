import type { ClientRequest } from "node:http";
import { TLSSocket } from "node:tls";

/** A connection in a private network takes milliseconds. After a lost packet, the kernel tries again after one second. */
const CONNECT_TIMEOUT_MS = 3000;

/** Ends a request with `ETIMEDOUT` when it has no connection in time. The kernel would try for two minutes. */
export function limitConnectTime(request: ClientRequest): void {
  request.once("socket", (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => socket.destroy(new ConnectTimeout()), CONNECT_TIMEOUT_MS);
    const clear = (): void => clearTimeout(timer);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", clear).once("close", clear);
  });
}

/** Has the fields of the error of the system call. */
class ConnectTimeout extends Error {
  override readonly name = "ConnectTimeout";
  readonly code = "ETIMEDOUT";
  readonly syscall = "connect";

  constructor() {
    super("connect ETIMEDOUT");
  }
}
