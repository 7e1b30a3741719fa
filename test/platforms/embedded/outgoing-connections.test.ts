import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { EgressForwarder } from "../../../server/sandbox/egress-forwarder.ts";
import { createCertificate } from "../../support/identity/certificate.ts";
import { runIn } from "../../support/sandbox/sandbox-command.ts";

const PRELOAD = path.resolve("server/platforms/embedded/node-server/inside/preload.cjs");
const sandbox = new BubblewrapSandbox();

/** Servers of this machine that stand for those of the internet: HTTP, HTTPS, and one that echoes. */
async function startInternet() {
  const certificate = createCertificate("api.example.com");
  const servers = [
    http.createServer((request, response) => response.end(`${request.method} ${request.headers.host} ${request.url}`)),
    https.createServer(certificate, (request, response) => response.end(`secure ${request.headers.host}`)),
    createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).pipe(socket)),
  ];
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  const [HTTP, HTTPS, ECHO] = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    ports: { HTTP, HTTPS, ECHO },
    ca: certificate.cert,
    [Symbol.asyncDispose]: async () => servers.forEach((server) => server.close()),
  };
}

/** Runs a module as a Node server would run it: without a network, and with the forwarder, which knows one host. */
async function runServerCode(code: string): Promise<unknown> {
  await using internet = await startInternet();
  await using forwarder = await EgressForwarder.open({
    lookup: async (host) => {
      if (!/^((api|other|private)\.example\.com)$/.test(host))
        throw Object.assign(new Error("no such host"), { code: "ENOTFOUND" });
      return [{ address: host.startsWith("private") ? "10.0.0.1" : "127.0.0.1", family: 4 }];
    },
    isAllowedAddress: (address) => address === "127.0.0.1",
  });
  const { HTTP, HTTPS, ECHO } = internet.ports;
  const sockets = { SERVICE_REQUESTS: "/run/app", SERVICE_EGRESS: "/run/egress" };
  const env = { PATH: "/usr/bin:/bin", NODE_OPTIONS: `--require /opt/preload.cjs`, CA: internet.ca, ...sockets };
  const script = `const [HTTP, HTTPS, ECHO] = ${JSON.stringify([HTTP, HTTPS, ECHO])}; const { CA } = process.env;
    const text = async (stream) => { let all = ""; for await (const chunk of stream) all += chunk; return all; };
    const codeOf = (promise) => promise.then(() => "none", (error) => error.cause?.code ?? error.code);
    const result = await (async () => { ${code} })();
    console.log(JSON.stringify(result)); process.exit();`;
  const { output } = await runIn(sandbox, ["/opt/node/bin/node", "--input-type=module", "-e", script], {
    env,
    mounts: [
      { from: forwarder.folder, to: "/run/egress", writable: false },
      { from: PRELOAD, to: "/opt/preload.cjs", writable: false },
    ],
  });
  return JSON.parse(output.toString());
}

test("a TLS connection that cannot be made reports one error", async () => {
  const code = `
    const { default: tls } = await import("node:tls");
    const socket = tls.connect({ host: "unknown.example.com", port: HTTPS });
    const errors = [];
    socket.on("error", ({ code }) => errors.push(code));
    await new Promise((resolve) => socket.once("close", () => setImmediate(resolve)));
    return errors;`;
  expect(await runServerCode(code)).toEqual(["ENOTFOUND"]);
});

test("fetch and node:http reach public hosts", async () => {
  const result = await runServerCode(`
    const { default: http } = await import("node:http");
    const request = (url) => new Promise((resolve, reject) => http.get(url, (response) => resolve(text(response))).on("error", reject));
    const urls = ["http://api.example.com:" + HTTP + "/a?b", "http://other.example.com:" + HTTP + "/"];
    return [...await Promise.all(urls.map((url) => fetch(url, { method: "POST" }).then((response) => response.text()))),
      ...await Promise.all(urls.map(request))].map((line) => line.replace(/:\\d+/, ""));`);
  expect(result).toEqual([
    "POST api.example.com /a?b",
    "POST other.example.com /",
    "GET api.example.com /a?b",
    "GET other.example.com /",
  ]);
});

test("TLS checks the certificate against the name of the host", async () => {
  const result = await runServerCode(`
    const { default: https } = await import("node:https");
    const { default: tls } = await import("node:tls");
    const get = (host, options) => new Promise((resolve, reject) =>
      https.get({ host, port: HTTPS, ...options }, (response) => resolve(text(response))).on("error", reject));
    const connected = await new Promise((resolve, reject) => {
      const socket = tls.connect({ host: "api.example.com", port: HTTPS, ca: CA }, () => resolve(socket.authorized)).on("error", reject);
    });
    return [await get("api.example.com", { ca: CA }).then((line) => line.replace(/:\\d+/, "")), connected,
      await codeOf(get("api.example.com", {})), await codeOf(get("other.example.com", { ca: CA })), await codeOf(fetch("https://api.example.com:" + HTTPS))];`);
  expect(result).toEqual([
    "secure api.example.com",
    true,
    expect.stringMatching(/SELF_SIGNED|UNABLE_TO/),
    "ERR_TLS_CERT_ALTNAME_INVALID",
    expect.stringMatching(/SELF_SIGNED|UNABLE_TO/),
  ]);
});

test("a connection of node:net carries all data, and has the address of the host", async () => {
  const result = await runServerCode(`
    const { default: net } = await import("node:net");
    const socket = net.connect(ECHO, "api.example.com");
    const sent = "x".repeat(2_000_000);
    socket.end(sent);
    const received = await text(socket);
    const silent = net.connect(ECHO, "api.example.com");
    silent.end();
    const nothing = await text(silent);
    const other = new net.Socket();
    const events = [];
    for (const name of ["lookup", "connect", "ready"]) other.on(name, () => events.push(name));
    await new Promise((resolve) => other.connect({ host: "api.example.com", port: ECHO }, resolve));
    return [received === sent, nothing, other.remoteAddress, other.remotePort === ECHO, other.connecting, events.slice(0, 2)];`);
  expect(result).toEqual([true, "", "127.0.0.1", true, false, ["lookup", "connect"]]);
});

test("names are resolved by the forwarder, which tells only public addresses", async () => {
  const result = await runServerCode(`
    const { default: dns } = await import("node:dns");
    return [
      await dns.promises.lookup("api.example.com"),
      await dns.promises.lookup("api.example.com", { all: true }),
      await new Promise((resolve) => dns.lookup("api.example.com", { family: 4 }, (...found) => resolve(found))),
      await dns.promises.resolve4("api.example.com"),
      await new Promise((resolve) => dns.resolve("api.example.com", (...found) => resolve(found))),
      await new dns.promises.Resolver().resolve4("api.example.com"),
      await codeOf(dns.promises.lookup("unknown.example.com")),
      await codeOf(dns.promises.lookup("private.example.com")),
      await codeOf(dns.promises.resolve6("api.example.com")),
      (await dns.promises.lookup("localhost")).address.length > 0,
    ];`);
  const found = { address: "127.0.0.1", family: 4 };
  expect(result).toEqual([
    found,
    [found],
    [null, "127.0.0.1", 4],
    ["127.0.0.1"],
    [null, ["127.0.0.1"]],
    ["127.0.0.1"],
    "ENOTFOUND",
    "ENOTFOUND",
    "ENODATA",
    true,
  ]);
});

test("a connection that is refused has the error of the system", async () => {
  const result = await runServerCode(`
    const { default: net } = await import("node:net");
    const failure = (host, port) => new Promise((resolve) => net.connect(port, host).on("error", ({ code, message }) => resolve([code, message])));
    return [await failure("api.example.com", 25), await failure("unknown.example.com", 443), await failure("private.example.com", 443),
      (await failure("127.0.0.1", 1))[0], await codeOf(fetch("http://unknown.example.com/"))];`);
  expect(result).toEqual([
    ["EACCES", "connect EACCES api.example.com:25"],
    ["ENOTFOUND", expect.stringContaining("unknown.example.com")],
    ["ENOTFOUND", expect.stringContaining("private.example.com")],
    "ECONNREFUSED",
    "ENOTFOUND",
  ]);
});

test("a connection that is destroyed at once, and one that its server closes, end", async () => {
  const result = await runServerCode(`
    const { default: net } = await import("node:net");
    const destroyed = net.connect(ECHO, "api.example.com");
    const closed = new Promise((resolve) => destroyed.once("close", resolve));
    destroyed.destroy();
    await closed;
    const controller = new AbortController();
    const aborted = fetch("http://api.example.com:" + HTTP, { signal: controller.signal });
    controller.abort();
    return await aborted.then(() => "none", ({ name }) => name);`);
  expect(result).toBe("AbortError");
});
