// Runs inside the sandbox, in every Node.js process of a Node server, before the server's own code. The sandbox has a network of
// its own with the loopback interface only:
//
// - A server that listens on a TCP port also listens on a unix socket in /run/app, to which the edge proxy connects.
// - A port below 1024, which only root can use, is replaced by another one.
// - A connection to another host goes through the unix sockets of the egress forwarder in /run/egress.
// - Names are resolved by the forwarder too.
// - A file that is renamed from the code to /data, or back, is copied, because they are different file systems: the folders in which a server
//   keeps data beside its code are links into /data.
// - A connection to the address of the server itself, as in fetch(`http://${request.headers.host}/api`), stays in the sandbox.
//
// It must work in every version of Node.js since 8, so it is CommonJS and uses nothing newer.
"use strict";

/* oxlint-disable unicorn/prefer-node-protocol -- Node.js 12 does not know it. */
const dns = require("dns");
const fs = require("fs");
const net = require("net");
const tls = require("tls");
const { syncBuiltinESMExports } = require("module");
const { callbackify } = require("util");

const { SERVICE_REQUESTS: REQUESTS, SERVICE_EGRESS: EGRESS } = process.env;

/** Added to ports that only root can use. */
const REPLACED_PORTS = 10000;

// Node.js 8 has no promises of either module.
const { lstat } = fs.promises || {};
const promises = dns.promises || { Resolver: function Resolver() {} };

const original = {
  connect: net.Socket.prototype.connect,
  listen: net.Server.prototype.listen,
  tlsConnect: tls.connect,
  lookup: dns.lookup,
  rename: fs.rename,
  renameSync: fs.renameSync,
  promisesRename: fs.promises && fs.promises.rename,
};

function isLocal(given) {
  if (!given) return true;
  const host = String(given);
  return (
    host === "localhost" ||
    host.startsWith("127.") ||
    ["::1", "0.0.0.0", "::", "::ffff:127.0.0.1"].includes(host) ||
    host.endsWith(".localhost")
  );
}

function systemError(code, syscall, details) {
  const text = details.host === undefined ? details.hostname : `${details.host}:${details.port}`;
  return Object.assign(new Error(`${syscall} ${code} ${text}`), { code, syscall, errno: code }, details);
}

/** Sends one request to the egress forwarder. Calls back with its response: an object that may have an `error`. */
function askForwarder(request, callback) {
  const socket = new net.Socket();
  let text = "";
  let isDone = false;
  const finish = (response) => {
    if (isDone) return;
    isDone = true;
    socket.destroy();
    callback(response);
  };
  socket.setEncoding("utf8");
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("end", () => {
    try {
      finish(JSON.parse(text));
    } catch (error) {
      finish({ error: error.code || "ECONNREFUSED" });
    }
  });
  socket.on("error", () => finish({ error: "ECONNREFUSED" }));
  original.connect.call(socket, { path: `${EGRESS}/control.sock` }, () => socket.write(`${JSON.stringify(request)}\n`));
  return socket;
}

function defineAddress(socket, address, family, port) {
  const define = (name, value) => Object.defineProperty(socket, name, { value, configurable: true });
  define("remoteAddress", address);
  define("remoteFamily", family);
  define("remotePort", port);
}

/** The ports of this process's servers, by the `Host` of the requests that they got. The edge proxy checks it. */
const ownPorts = new Map();
const MAX_OWN_HOSTS = 100;

function findOwnPort(host, port) {
  return ownPorts.get(`${host}:${port}`) || (Number(port) === 80 ? ownPorts.get(host) : undefined);
}

net.Socket.prototype.connect = function connect(...args) {
  const [options, callback] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
  const { host, port, path } = options;
  const ownPort = path ? undefined : findOwnPort(host, port);
  if (ownPort !== undefined)
    return original.connect.call(this, { ...options, host: "127.0.0.1", port: ownPort }, callback || undefined);
  if (path || port === undefined || isLocal(host)) return original.connect.apply(this, args);
  if (typeof callback === "function") this.once("connect", callback);
  this.connecting = true;
  // A socket that was ended forgets it when it gets its connection.
  let endArguments = null;
  this.end = (...given) => {
    endArguments = given;
    return this;
  };
  const request = askForwarder({ connect: { host: String(host), port: Number(port) } }, (response) => {
    if (this.destroyed) return;
    this.connecting = false;
    if (response.error) {
      this.destroy(systemError(response.error, "connect", { host, address: host, port: Number(port) }));
      return;
    }
    defineAddress(this, response.address, response.family === 6 ? "IPv6" : "IPv4", Number(port));
    this.emit("lookup", null, response.address, response.family, host);
    delete this.end;
    original.connect.call(this, { path: `${EGRESS}/${response.path}` });
    if (endArguments !== null) this.end(...endArguments);
  });
  this.once("close", () => request.destroy());
  return this;
};

// A TLS socket chooses the kind of its connection when it is created, before the path is known.
tls.connect = function connect(...args) {
  const [options, callback] = net._normalizeArgs(args);
  if (options.socket || options.path || options.port === undefined || isLocal(options.host))
    return original.tlsConnect.apply(this, args);
  const { host, port } = options;
  const servername = options.servername || (net.isIP(host) ? "" : host);
  const socket = new net.Socket().connect({ host, port });
  return original.tlsConnect.call(this, { ...options, servername, socket }, callback || undefined);
};

dns.lookup = function lookup(hostname, ...rest) {
  const callback = rest[rest.length - 1];
  const given = rest.length > 1 ? rest[0] : {};
  const options = typeof given === "number" ? { family: given } : given || {};
  if (net.isIP(hostname) || isLocal(hostname)) return original.lookup(hostname, ...rest);
  askForwarder({ lookup: { name: hostname } }, ({ error, addresses = [] }) => {
    const family = { IPv4: 4, IPv6: 6 }[options.family] || options.family || 0;
    const found = addresses.filter((each) => !family || each.family === family);
    if (error || found.length === 0) return callback(systemError(error || "ENOTFOUND", "getaddrinfo", { hostname }));
    return options.all ? callback(null, found) : callback(null, found[0].address, found[0].family);
  });
  return {};
};

promises.lookup = (hostname, options) =>
  new Promise((resolve, reject) => {
    const settled = typeof options === "number" ? { family: options } : options || {};
    dns.lookup(hostname, settled, (error, address, family) => {
      if (error) reject(error);
      else resolve(settled.all ? address : { address, family });
    });
  });

const RECORDS = { "": "A", 4: "A", 6: "AAAA", Cname: "CNAME", Mx: "MX", Ns: "NS", Srv: "SRV", Txt: "TXT" };

function resolveRecords(type, hostname) {
  return new Promise((resolve, reject) => {
    askForwarder({ resolve: { name: String(hostname), type } }, ({ error, records }) => {
      if (error) reject(systemError(error, `query${type}`, { hostname }));
      else resolve(records);
    });
  });
}

for (const [suffix, fixedType] of Object.entries(RECORDS)) {
  const name = `resolve${suffix}`;
  const byPromise = (hostname, type) =>
    resolveRecords(suffix === "" && typeof type === "string" ? type : fixedType, hostname);
  const ask = callbackify(byPromise);
  const byCallback = (hostname, ...rest) => ask(hostname, rest.length > 1 ? rest[0] : undefined, rest[rest.length - 1]);
  dns[name] = byCallback;
  promises[name] = byPromise;
  dns.Resolver.prototype[name] = byCallback;
  promises.Resolver.prototype[name] = byPromise;
}

/**
 * Reads the inode of a file. `fs.lstat` and `fs.lstatSync` would leave the type of the file where `require` of Node.js 20 takes it for
 * that of a part of its path: after a socket, it does not resolve the links of pnpm. Always fails in Node.js 8, where the socket of a
 * closed server stays until the app stops.
 */
const readInode = callbackify(async (file) => (await lstat(file)).ino);

/**
 * Lets the edge proxy connect to a server. The connections look like those of a proxy on the same machine.
 *
 * @param isAnyPort - the server listens on a port that the system chose, as those do that only other processes of the app know
 */
function acceptRequests(server, isAnyPort) {
  const address = server.address();
  // The primary process of a cluster listens in place of its workers with a server whose only listener is `assert.fail`.
  if (server.listeners("connection").some((listener) => listener.name === "fail")) return;
  if (address === null || typeof address === "string") return;
  const { port } = address;
  if (server.listenerCount("request") > 0)
    server.prependListener("request", ({ headers }) => {
      if (headers.host && ownPorts.size < MAX_OWN_HOSTS) ownPorts.set(headers.host, port);
    });
  const accepting = new net.Server({ allowHalfOpen: server.allowHalfOpen, noDelay: true }, (socket) => {
    defineAddress(socket, "127.0.0.1", "IPv4", 0);
    Object.defineProperty(socket, "localAddress", { value: "127.0.0.1", configurable: true });
    Object.defineProperty(socket, "localPort", { value: port, configurable: true });
    server.emit("connection", socket);
  });
  accepting.on("error", () => {});
  // The service takes a socket away as soon as it has its final name, so it must accept connections by then.
  const file = `${REQUESTS}/${isAnyPort ? "any-" : ""}${port}.sock`;
  let created;
  accepting.once("listening", () =>
    readInode(`${file}.new`, (error, inode) => {
      created = inode;
      original.rename(`${file}.new`, file, () => {});
    }),
  );
  original.listen.call(accepting, { path: `${file}.new`, backlog: 511 });
  accepting.unref();
  server.once("close", () => {
    accepting.close();
    // Meanwhile another server may listen on the port.
    readInode(file, (error, inode) => {
      if (!error && inode === created) fs.unlink(file, () => {});
    });
  });
}

/** Replaces a port that only root can use, such as 80, by one above 1023. */
function withAllowedPort(args) {
  const [options, callback] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
  const port = Number(options.port);
  if (options.path || !Number.isInteger(port) || port < 1 || port > 1023) return args;
  return [{ ...options, port: port + REPLACED_PORTS }, callback || undefined];
}

net.Server.prototype.listen = function listen(...args) {
  const [{ port }] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
  this.once("listening", () => acceptRequests(this, !Number(port)));
  return original.listen.apply(this, withAllowedPort(args));
};

/** Whether what cannot be renamed, because the new place is at another file system, can be copied. */
const isToCopy = ({ code }, ...paths) => code === "EXDEV" && paths.every((each) => typeof each === "string");
const COPY = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };

/** Renames by copying. A link to data is replaced by the data, which is in /data already. */
function moveSync(from, to) {
  const isLink =
    fs.lstatSync(from).isSymbolicLink() && fs.existsSync(from) && fs.realpathSync(from).startsWith("/data/");
  const draft = `${to.replace(/\/+$/, "")}.${process.pid}-${Date.now()}`;
  try {
    if (isLink) original.renameSync(fs.realpathSync(from), draft);
    else fs.cpSync(from, draft, COPY);
    original.renameSync(draft, to);
  } catch (error) {
    if (!isLink) fs.rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  fs.rmSync(from, { recursive: true });
}

async function rename(from, to) {
  try {
    await original.promisesRename(from, to);
  } catch (error) {
    if (!isToCopy(error, from, to)) throw error;
    moveSync(from, to);
  }
}

function renameSync(from, to) {
  try {
    original.renameSync(from, to);
  } catch (error) {
    if (!isToCopy(error, from, to)) throw error;
    moveSync(from, to);
  }
}

// Since Node.js 16.7.
if (fs.cpSync) {
  const withCallback = callbackify(rename);
  fs.rename = (from, to, callback) =>
    (typeof callback === "function" && typeof from === "string" ? withCallback : original.rename)(from, to, callback);
  fs.renameSync = renameSync;
  fs.promises.rename = rename;
}

if (syncBuiltinESMExports) syncBuiltinESMExports();
