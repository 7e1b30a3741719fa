// Runs in the network namespace of a sandbox: listens on a port of the loopback interface and passes the listening socket to its
// parent. The socket stays in the namespace, so the parent accepts the connections of the sandbox.
"use strict";

const net = require("node:net");

const server = net.createServer();
server.listen({ host: "127.0.0.1", port: Number(process.argv[2]) }, () => {
  process.send("listening", server, () => process.exit());
});
