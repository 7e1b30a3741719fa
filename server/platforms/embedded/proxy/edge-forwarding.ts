import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { EdgeAddress } from "../app-placement.ts";
import type { ClientInfo } from "./client-info.ts";
import { HalfOpenSocket } from "./forward-request.ts";

/** Its name is reserved, so neither clients nor apps can send it through an edge proxy. */
const HEADER = "x-service-edge";
const VALUE = /^(https?) (\S{1,64}) ([0-9a-f]{64})$/;
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Names the client of a request that an edge forwards to another one. The value is signed with the secret of the installation,
 * together with the `Host` header, so an edge believes it whatever the address of the other edge is.
 */
export class EdgeForwarding {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** The header of a forwarded request. */
  header(request: IncomingMessage, { scheme, address }: ClientInfo): [name: string, value: string] {
    return [HEADER, `${scheme} ${address} ${this.#sign(request, scheme, address).toString("hex")}`];
  }

  /** The client that another edge names; `null` for a request that no edge has forwarded. */
  read(request: IncomingMessage): ClientInfo | null {
    const [, scheme, address, signature] = VALUE.exec(String(request.headers[HEADER])) ?? [];
    if (scheme === undefined || address === undefined || signature === undefined) return null;
    const isValid = timingSafeEqual(Buffer.from(signature, "hex"), this.#sign(request, scheme, address));
    return isValid ? { scheme: scheme as ClientInfo["scheme"], address } : null;
  }

  #sign(request: IncomingMessage, scheme: string, address: string): Buffer {
    const content = JSON.stringify([request.headers.host, scheme, address]);
    return createHmac("sha256", this.#secret).update(content).digest();
  }
}

/** Connects to the edge proxy of another edge. @returns `null` if that does not accept connections */
export function connectToEdge({ host, port }: EdgeAddress): Promise<Socket | null> {
  const socket = new HalfOpenSocket();
  return new Promise((resolve) => {
    const settle = (result: Socket | null) => {
      if (result === null) socket.destroy();
      resolve(result);
    };
    const fail = () => settle(null);
    socket
      // It stays, because the connection may end before a request uses it.
      .on("error", fail)
      .once("timeout", fail)
      .once("connect", () => {
        socket.setTimeout(0).off("timeout", fail);
        settle(socket);
      })
      .setTimeout(CONNECT_TIMEOUT_MS)
      .connect(port, host);
  });
}
