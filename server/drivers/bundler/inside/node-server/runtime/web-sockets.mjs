// Part of the runtime of Node servers in workerd. Packages such as ws and Socket.IO get the socket of an upgrade and speak the
// WebSocket protocol on it. workerd speaks this protocol itself, and gives apps messages. This translates between both.
import { Duplex, Readable } from "node:stream";
import { FrameReader, writeFrame } from "./web-socket-frames.ts";

const HEAD_END = "\r\n\r\n";
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** Status codes that an endpoint must not send (RFC 6455, section 7.4.1). */
const isSendable = (code) => code === 1000 || (code > 1001 && code < 5000 && ![1004, 1005, 1006, 1015].includes(code));

/**
 * Passes a request for a WebSocket to the `upgrade` listeners of a server.
 *
 * @param {import("node:http").Server} server
 * @param {Request} request
 * @returns {Promise<Response>} the response that the listener writes to the socket
 */
export function upgrade(server, request) {
  const { promise, resolve } = Promise.withResolvers();
  const socket = new UpgradedSocket(resolve);
  server.emit("upgrade", incomingMessage(request, socket), socket, Buffer.alloc(0));
  return promise;
}

/** The request as Node passes it, without extensions: workerd compresses messages itself. */
function incomingMessage(request, socket) {
  const { pathname, search } = new URL(request.url);
  const headers = Object.fromEntries(request.headers);
  delete headers["sec-websocket-extensions"];
  Object.assign(headers, {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    // The key proves to a client that the server understood it. workerd responds to the real one.
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  });
  return Object.assign(Readable.from([]), {
    method: request.method,
    url: pathname + search,
    httpVersion: "1.1",
    headers,
    rawHeaders: Object.entries(headers).flat(),
    socket,
    connection: socket,
  });
}

/** The socket of an upgrade. What is written to it first is the head of a response, then the frames of messages. */
class UpgradedSocket extends Duplex {
  #respond;
  #head = "";
  #webSocket = null;
  #frames = new FrameReader();

  /** @param {(response: Response) => void} respond */
  constructor(respond) {
    super({ allowHalfOpen: true });
    this.#respond = respond;
    this.remoteAddress = "127.0.0.1";
  }

  // A listener calls them on a socket.
  setTimeout() {
    return this;
  }
  setNoDelay() {
    return this;
  }
  setKeepAlive() {
    return this;
  }

  _read() {}

  _write(chunk, _encoding, done) {
    if (this.#webSocket) for (const frame of this.#frames.read(chunk)) this.#send(frame);
    else this.#readHead(chunk);
    done();
  }

  _final(done) {
    if (this.#webSocket === null) this.#refuse();
    done();
  }

  _destroy(error, done) {
    if (this.#webSocket === null) this.#refuse();
    else this.#closeWebSocket();
    done(error);
  }

  #readHead(chunk) {
    this.#head += chunk.toString("latin1");
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0 || !this.#head.startsWith("HTTP/1.1 101 ")) return;
    const { 0: client, 1: server } = new WebSocketPair();
    const rest = Buffer.from(this.#head.slice(end + HEAD_END.length), "latin1");
    this.#webSocket = server;
    server.binaryType = "arraybuffer";
    server.accept();
    server.addEventListener("message", ({ data }) => {
      this.push(writeFrame(typeof data === "string" ? TEXT : BINARY, Buffer.from(data)));
    });
    server.addEventListener("close", ({ code, reason }) => this.#receiveClose(code, reason));
    server.addEventListener("error", () => this.destroy());
    this.#respond(new Response(null, { status: 101, webSocket: client, headers: this.#headers(end) }));
    if (rest.length > 0) this._write(rest, null, () => {});
  }

  /** Responds with what the listener wrote in place of a WebSocket. */
  #refuse() {
    const end = this.#head.indexOf(HEAD_END);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(this.#head)?.[1] ?? 502);
    const body = end < 0 ? null : this.#head.slice(end + HEAD_END.length);
    this.#respond(new Response(body, { status, headers: end < 0 ? {} : this.#headers(end) }));
  }

  #headers(end) {
    const lines = this.#head.slice(0, end).split("\r\n").slice(1);
    const headers = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
    return new Headers(
      headers.filter(
        ([name]) =>
          !/^(connection|upgrade|content-length|transfer-encoding|sec-websocket-(accept|extensions))$/i.test(name),
      ),
    );
  }

  #send({ opcode, payload }) {
    if (opcode === TEXT) this.#webSocket.send(payload.toString());
    else if (opcode === BINARY) this.#webSocket.send(new Uint8Array(payload).buffer);
    // Clients of workerd are not pinged. A connection that is broken is closed.
    else if (opcode === PING) this.push(writeFrame(PONG, payload));
    else if (opcode === CLOSE) this.#closeWebSocket(payload);
  }

  #closeWebSocket(payload = Buffer.alloc(0)) {
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1000;
    try {
      this.#webSocket.close(isSendable(code) ? code : 1000, payload.subarray(2).toString());
    } catch {
      // It is closed already.
    }
  }

  /** The listener responds to the frame, and ends the socket. */
  #receiveClose(code, reason) {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(isSendable(code) || code === 1001 ? code : 1000);
    if (!this.destroyed) this.push(writeFrame(CLOSE, Buffer.concat([payload, Buffer.from(reason ?? "")])));
    if (!this.destroyed) this.push(null);
  }
}
