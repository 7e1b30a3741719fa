// Part of the runtime of Node servers in workerd. Packages such as @fastify/websocket create a response for the socket of an
// upgrade, to reject the request after their hooks and routes. workerd has no responses for sockets.
import http from "node:http";

/** Lets responses write to a socket. What is written is sent when the response ends. */
export function supportAssignedSockets() {
  http.ServerResponse.prototype.assignSocket = assignSocket;
  http.ServerResponse.prototype.detachSocket = () => {};
}

function assignSocket(socket) {
  const chunks = [];
  const add = (chunk, encoding) => {
    if (typeof chunk === "string") chunks.push(Buffer.from(chunk, typeof encoding === "string" ? encoding : "utf8"));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  Object.assign(this, {
    writeHead: (status, ...values) => {
      this.statusCode = status;
      const headers = values.at(-1);
      if (typeof headers === "object") for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
      return this;
    },
    write: (chunk, encoding) => {
      add(chunk, encoding);
      return true;
    },
    end: (chunk, encoding) => {
      add(chunk, encoding);
      const headers = Object.entries(this.getHeaders()).map(([name, value]) => `${name}: ${value}\r\n`);
      const head = `HTTP/1.1 ${this.statusCode} ${http.STATUS_CODES[this.statusCode]}\r\n${headers.join("")}\r\n`;
      socket.end(Buffer.concat([Buffer.from(head, "latin1"), ...chunks]));
      this.emit("finish");
      return this;
    },
  });
}
