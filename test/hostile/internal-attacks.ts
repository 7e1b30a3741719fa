import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { sharedKeyTls } from "../../server/platforms/remote/shared-key-tls.ts";
import { openRemoteTestEdge, type RemoteEdge, TOKEN_SECRET } from "../support/edge/remote-edge.ts";
import type { Attack, AttackResult } from "./attack.ts";

const MEBIBYTE = 1024 * 1024;
/** More than the arguments of a call may have. */
const OVERSIZED = 80 * MEBIBYTE;
const CONNECTIONS = 500;
const WAIT_MS = 5000;

/** Attacks on the internal port of an edge, which no client of the service should reach. */
export const INTERNAL_ATTACKS: readonly Attack[] = [
  attack("The internal port: clients without the key, or with another one", connectWithoutKey),
  attack("The internal port: plain HTTP, and bytes that are no protocol", sendPlain),
  attack("The internal port: calls of what the edge does not offer", callUnknown),
  attack("The internal port: oversized bodies", oversize),
  attack("The internal port: connections that never send a request", occupy),
];

function attack(name: string, run: (edge: RemoteEdge) => Promise<AttackResult>): Attack {
  return {
    name,
    through: "API",
    run: async () => {
      await using edge = await openRemoteTestEdge();
      return await run(edge);
    },
  };
}

/** Each could be what a client without `TOKEN_SECRET` tries. */
function foreignKeys(): ConnectionOptions[] {
  const { ciphers } = sharedKeyTls("").client;
  const withKey = (psk: Buffer, identity = "service"): ConnectionOptions => ({
    ...{ ciphers, maxVersion: "TLSv1.2", checkServerIdentity: () => undefined },
    pskCallback: () => ({ psk, identity }),
  });
  return [
    { rejectUnauthorized: false },
    { rejectUnauthorized: false, minVersion: "TLSv1.3" },
    { rejectUnauthorized: false, maxVersion: "TLSv1.2" },
    { rejectUnauthorized: false, maxVersion: "TLSv1.2", ciphers: "aNULL:eNULL:ALL:@SECLEVEL=0" },
    { rejectUnauthorized: false, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" },
    sharedKeyTls("another-secret-of-32-characters-or-more").client,
    sharedKeyTls("").client,
    ...[Buffer.alloc(1), Buffer.alloc(32), Buffer.from(TOKEN_SECRET)].map((psk) => withKey(psk)),
    ...["", "Service", "service\0", "x".repeat(10_000)].map((identity) => withKey(Buffer.alloc(32), identity)),
  ];
}

async function connectWithoutKey({ port }: RemoteEdge): Promise<AttackResult> {
  const attempts = foreignKeys();
  let accepted = 0;
  for (const options of attempts) if (await isAccepted({ ...options, port, host: "127.0.0.1" })) accepted++;
  // The same connection with the key, so that the others are refused because of theirs.
  const isReachable = await isAccepted({ ...sharedKeyTls(TOKEN_SECRET).client, port, host: "127.0.0.1" });
  const text = `${attempts.length} ways, ${accepted} accepted${isReachable ? "" : ", nor is the key"}`;
  return { isContained: accepted === 0 && isReachable, text };
}

/** Whether the server completes the handshake and responds to a request. */
function isAccepted(options: ConnectionOptions): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const socket = connectTls(options, () => socket.write("POST /installation HTTP/1.1\r\nHost: a\r\n\r\n"));
      socket.setTimeout(WAIT_MS, () => socket.destroy());
      socket.once("data", () => resolve(true));
      socket.on("error", () => undefined).once("close", () => resolve(false));
    } catch {
      // This version of TLS, or this identity, is refused by the client itself.
      resolve(false);
    }
  });
}

async function sendPlain({ port, ports }: RemoteEdge): Promise<AttackResult> {
  const sent = requestHttp({ host: "127.0.0.1", port, path: "/installation", method: "POST" }).end("[]");
  const hasResponded = await once(sent, "response").then(
    () => true,
    () => false,
  );
  const texts = [
    Buffer.alloc(MEBIBYTE),
    Buffer.from("\x16\x03\x01\xff\xff"),
    Buffer.from("SSH-2.0-a\r\n"),
    Buffer.from("\r\n"),
  ];
  let back = "";
  for (const text of texts) {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.setTimeout(1000, () => socket.destroy());
    socket.on("data", (chunk: Buffer) => (back += chunk.toString("latin1")));
    socket.write(text);
    // `once` of `node:events` would reject for a connection that is reset.
    await new Promise((resolve) => socket.once("close", resolve));
  }
  await ports.authEntries.list();
  const isContained = !hasResponded && !/installation|HTTP/.test(back);
  return {
    isContained,
    text: isContained ? "refused; calls of the installation work" : `responded: ${back.slice(0, 80)}`,
  };
}

/** Sends a call with the key. Returns the status and the body of the response. */
async function call(port: number, path: string, body: string | Buffer): Promise<{ status: number; text: string }> {
  const options = { ...sharedKeyTls(TOKEN_SECRET).client, host: "127.0.0.1", port, path, method: "POST", agent: false };
  const sent = request(options);
  const responding = once(sent, "response") as Promise<[IncomingMessage]>;
  // The server may close the connection while the body is sent.
  sent.on("error", () => undefined).end(body);
  const [response] = await responding;
  return { status: response.statusCode ?? 0, text: (await response.setEncoding("utf8").toArray()).join("") };
}

/** As a process of the installation that was taken over. */
async function callUnknown({ port }: RemoteEdge): Promise<AttackResult> {
  const paths = [
    "/platform/constructor",
    "/platform/__proto__",
    "/__proto__/toString",
    "/constructor/constructor",
    "/platform/publish",
    "/platform/../platform/list",
    "/storage/measure/../../platform/list",
    "/installation/",
    "/platform",
    "/",
    "//platform/list",
    "/supervisor/close",
  ];
  let answered = 0;
  for (const path of paths) if ((await call(port, path, "[]")).status !== 500) answered++;
  const bodies = ["{}", "null", "[", "[1,2,3]", '[{"slug":"../../x"}]', '["../../../etc"]', "[".repeat(100_000)];
  const texts: string[] = [];
  for (const body of bodies) texts.push((await call(port, "/platform/liveGeneration", body)).text);
  const leaks = texts.filter((text) => /root:|\/home|\/tmp|at .*\.ts/.test(text));
  const isContained = answered === 0 && leaks.length === 0;
  return {
    isContained,
    text: `${paths.length} paths, ${answered} answered; ${bodies.length} arguments, ${leaks.length} leaks`,
  };
}

async function oversize({ port, ports }: RemoteEdge): Promise<AttackResult> {
  const before = process.memoryUsage().rss;
  const results = await Promise.all(
    ["/platform/list", "/authEntries/put", "/publish", "/follow"].map((path) =>
      call(port, path, Buffer.alloc(OVERSIZED, " ")).then(
        ({ status }) => status,
        () => 0,
      ),
    ),
  );
  await ports.authEntries.list();
  const grownMb = Math.max(0, Math.round((process.memoryUsage().rss - before) / MEBIBYTE));
  // 0: the connection is closed while the client still sends.
  const isContained = results.every((status) => status === 500 || status === 0);
  return {
    isContained,
    text: `${results.length} bodies of ${OVERSIZED / MEBIBYTE} MiB refused, ${grownMb} MiB more memory with the client`,
  };
}

/** Half of them send nothing, the others half a handshake. */
async function occupy({ port, ports }: RemoteEdge): Promise<AttackResult> {
  const sockets: Socket[] = [];
  for (let n = 0; n < CONNECTIONS; n++) {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    if (n % 2 === 0) socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
    sockets.push(socket);
  }
  await delay(500);
  let slowestMs = 0;
  for (let turn = 0; turn < 20; turn++) {
    const startedAt = performance.now();
    await ports.authEntries.list();
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  for (const socket of sockets) socket.destroy();
  const text = `${CONNECTIONS} connections; a call of the installation takes ${Math.round(slowestMs)} ms at most`;
  return { isContained: slowestMs < WAIT_MS, text };
}
