import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openNodeServers } from "../../server/composition/edge.ts";
import { publishServer } from "../support/edge/node-server.ts";
import { openTestPlatform, type TestPlatform } from "../support/edge/test-platform.ts";
import { processesWith } from "../support/sandbox/sandbox-command.ts";
import { type Attack, type AttackEnvironment, type AttackResult, judgeHeld } from "./attack.ts";

/** The limits are 1 GiB. Where the kernel does not apply them, the service measures memory every 100 ms, and files every 500 ms. */
const MAX_MB = { memory: 1280, disk: 2048 } as const;
const MAX_PROCESSES = 256;
const MAX_DESCRIPTORS = 1200;
const MAX_LOG_MB = 16;
const END_TIMEOUT_MS = 60_000;

const NEIGHBOUR = `require("fs").writeFileSync("/data/secret-of-neighbour", "secret");
  require("http").createServer((request, response) => response.end("fine " + process.pid)).listen(process.env.PORT);`;

/** A server that runs an attack when it is requested. Its response is what the attack achieved. */
export const hostile = (attack: string) => `
  const [fs, net, http] = ["fs", "net", "http"].map((name) => require(name));
  const { execFileSync, spawn } = require("child_process");
  let held = 0;
  const attack = async () => { ${attack} };
  const send = (response) => (text) => response.end(String(text));
  http.createServer(({ url }, response) => {
    if (url !== "/attack") return response.end(String(held));
    attack().catch((error) => error.message).then(send(response));
  }).listen(process.env.PORT);`;

/** Sends each request to the forwarder, and returns those that did not fail. */
const THROUGH_FORWARDER = (requests: string) => `
  const ask = (request) => new Promise((resolve) => {
    let text = "";
    const socket = net.connect("/run/egress/control.sock", () => socket.write(JSON.stringify(request) + "\\n"));
    socket.on("data", (chunk) => (text += chunk)).on("close", () => resolve(text)).on("error", () => {});
  });
  const reached = [];
  for (const request of ${requests}) {
    const response = await ask(request);
    if (!response.includes('"error"') && !response.includes('"addresses":[]')) reached.push(JSON.stringify(request) + response);
  }
  return reached.join() || "refused";`;

const PRIVATE_HOSTS = [
  ...[
    "127.0.0.1",
    "localhost",
    "::1",
    "[::1]",
    "0.0.0.0",
    "::",
    "::ffff:127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
  ],
  ...[
    "10.0.0.1",
    "172.17.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "metadata.google.internal",
    "fd00:ec2::254",
  ],
];

export const SERVER_ATTACKS: readonly Attack[] = [
  attackNamed("A Node server: processes", async (t) => {
    await publishServer(
      t,
      "hostile",
      hostile(`const children = Array.from({ length: 1000 }, () => spawn("sleep", ["60"]).on("error", () => {}));
        return children.filter(({ pid }) => pid !== undefined).length;`),
    );
    const started = Number((await t.request("hostile", "/attack")).text) || 0;
    return { isContained: started <= MAX_PROCESSES, text: `${started} of 1000 started` };
  }),
  attackNamed("A Node server: memory of several processes", (t) =>
    attackHeld(
      t,
      "memory",
      `for (let n = 0; n < 8; n++) {
        const hold = "const held = []; setInterval(() => { held.push(Buffer.alloc(8 << 20, 1)); console.log(8); }, 1)";
        spawn(process.execPath, ["-e", hold]).stdout.on("data", (text) => (held += 8 * String(text).trim().split("\\n").length));
      }`,
    ),
  ),
  attackNamed("A Node server: disk space", (t) =>
    attackHeld(
      t,
      "disk",
      `setInterval(() => { fs.writeFileSync("file-" + held, Buffer.alloc(8 << 20, 1)); held += 8; }, 1);`,
    ),
  ),
  attackNamed("A Node server: disk space of files without a name", (t) =>
    attackHeld(
      t,
      "disk",
      `setInterval(() => {
        const file = fs.openSync("file", "w");
        fs.unlinkSync("file");
        fs.writeSync(file, Buffer.alloc(8 << 20, 1));
        held += 8;
      }, 1);`,
    ),
  ),
  attackNamed("A Node server: connections to the service", async (t) => {
    await publishServer(
      t,
      "hostile",
      hostile(`for (let n = 0; n < 3000; n++) net.connect("/run/egress/control.sock").on("error", () => {});
        await new Promise((resolve) => setTimeout(resolve, 3000));`),
    );
    const before = (await readdir("/proc/self/fd")).length;
    await t.request("hostile", "/attack");
    const added = (await readdir("/proc/self/fd")).length - before;
    return { isContained: added <= MAX_DESCRIPTORS, text: `${added} descriptors of the service` };
  }),
  attackNamed("A Node server: signals to other processes", async (t) => {
    await publishServer(
      t,
      "hostile",
      hostile(`let sent = 0;
        for (let pid = 1; pid < 100000; pid++) if (pid !== process.pid) try { process.kill(pid, 9); sent++; } catch {}
        return sent;`),
    );
    const { text } = await t.request("hostile", "/attack");
    // It can end its own processes. The other app must still run.
    return { isContained: true, text: `sent, ${text}` };
  }),
  attackNamed("A Node server: files of other apps and of the service", async (t) => {
    await publishServer(
      t,
      "hostile",
      hostile(`const find = (words) => { try { return execFileSync("find", words, { encoding: "utf8" }); } catch ({ stdout }) { return stdout; } };
        const found = find(["/", "-not", "-path", "/proc/*/task/*", "(", "-name", "secret-of-neighbour", "-o", "-name", "live.json", ")"]);
        const sockets = find(["/run", "/tmp", "/data", "-name", "*.sock"]);
        const writable = find(["/", "-xdev", "-writable", "-type", "d", "-not", "-path", "/proc/*", "-not", "-path", "/build*", "-not", "-path", "/tmp*", "-not", "-path", "/data*", "-not", "-path", "/dev/*"]);
        return (found + sockets + writable).trim().split("\\n").join(" ");`),
    );
    const { text } = await t.request("hostile", "/attack");
    const foreign = text
      .split(" ")
      .filter((each) => !/^(\/run\/egress\/control\.sock|\/run\/app(\/3000\.sock)?|)$/.test(each));
    return { isContained: foreign.length === 0, text: foreign.length === 0 ? "nothing found" : foreign.join(" ") };
  }),
  attackNamed("A Node server: servers on the loopback interface of the host", async (t) => {
    const ports = [t.platform.port, 5432, 6379, 22, 3001];
    await publishServer(
      t,
      "hostile",
      hostile(`const reached = [];
        for (const host of ["127.0.0.1", "::1", "localhost"]) for (const port of ${JSON.stringify(ports)})
          await new Promise((resolve) => net.connect(port, host, () => resolve(reached.push(host + ":" + port))).on("error", resolve));
        return reached.join() || "refused";`),
    );
    const { text } = await t.request("hostile", "/attack");
    return { isContained: text === "refused", text };
  }),
  attackNamed("A Node server: private addresses through the forwarder", async (t) => {
    const ports = [t.platform.port, 443, 5432, 6379];
    const requests = PRIVATE_HOSTS.flatMap((host) => [
      ...ports.map((port) => ({ connect: { host, port } })),
      { lookup: { name: host } },
    ]);
    await publishServer(t, "hostile", hostile(THROUGH_FORWARDER(JSON.stringify(requests))));
    const { text } = await t.request("hostile", "/attack");
    return { isContained: text === "refused", text };
  }),
  attackNamed("A Node server: a link to a socket of the host", attackWithLink),
  attackNamed("A Node server: endless output", async (t) => {
    await publishServer(
      t,
      "hostile",
      hostile(
        `const line = "x".repeat(10000); setInterval(() => { for (let n = 0; n < 100; n++) console.log(line); }, 0); return "started";`,
      ),
    );
    await t.request("hostile", "/attack");
    await sleep(5000);
    const logs = path.join(t.root, "scripts/hostile/app-hostile/logs");
    const sizes = await Promise.all(
      (await readdir(logs)).map(async (name) => (await stat(path.join(logs, name))).size),
    );
    return judgeHeld(
      Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2),
      MAX_LOG_MB,
      "the log is bounded",
    );
  }),
  attackNamed("A Node server: life after SIGTERM", attackShutdown),
];

/** An attack beside another app, which must still respond from the same process. */
export function attackNamed(name: string, attack: (t: TestPlatform) => Promise<AttackResult>): Attack {
  const run = async ({ groups }: AttackEnvironment): Promise<AttackResult> => {
    const nodeServers = openNodeServers({ sandbox: "bubblewrap" }, groups);
    await using t = await openTestPlatform({ groups, nodeServers, limits: { hangMs: 60_000 } });
    await publishServer(t, "neighbour", NEIGHBOUR);
    const before = await t.request("neighbour");
    const { isContained, text } = await attack(t);
    const after = await t.request("neighbour").catch(() => null);
    if (
      before.text === after?.text &&
      t.log.every(({ slug, message }) => slug !== "neighbour" || message !== "app process ended")
    )
      return { isContained, text };
    return { isContained: false, text: `${text}; the other app responds: ${after?.text}` };
  };
  return { name, through: "app", run };
}

/** Lets a server hold as much of a resource as it can, until it is stopped. */
async function attackHeld(t: TestPlatform, reason: "memory" | "disk", attack: string): Promise<AttackResult> {
  await publishServer(t, "hostile", hostile(`${attack}; return "started";`));
  await t.request("hostile", "/attack");
  let heldMb = 0;
  for (const startedAt = Date.now(); Date.now() - startedAt < END_TIMEOUT_MS; await sleep(20)) {
    const end = t.log.find(({ message, slug }) => message === "app process ended" && slug === "hostile");
    if (end !== undefined) return judgeHeld(heldMb, MAX_MB[reason], `stopped (${reason})`);
    // A request after the end would start it again.
    const { text } = await t.request("hostile", "/held").catch(() => ({ text: "" }));
    heldMb = Math.max(heldMb, Number(text) || 0);
  }
  return { isContained: false, text: `${heldMb} MiB, not stopped` };
}

/** Puts links in the place of the socket that the edge proxy connects with. */
async function attackWithLink(t: TestPlatform): Promise<AttackResult> {
  const victim = path.join(t.root, "victim.sock");
  const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nreached"));
  await once(server.listen(victim), "listening");
  const code = `const fs = require("fs");
    for (const target of ${JSON.stringify([victim, "../../../../victim.sock", "/run/egress/control.sock"])}) {
      const [folder, file] = ["/run/app/", "/run/app/3000.sock"];
      for (let n = 0; n < 50; n++) {
        try { fs.symlinkSync(target, file); } catch {}
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
    require("http").createServer((request, response) => response.end("own")).listen(3000);
    setInterval(() => { try { fs.symlinkSync(${JSON.stringify(victim)}, "/run/app/3000.sock"); } catch {} }, 1);`;
  try {
    const failure = await publishServer(t, "hostile", code).then(
      () => null,
      (error: unknown) => String(error),
    );
    const { text } = await t.request("hostile");
    return { isContained: text !== "reached", text: failure ?? `the response is its own: ${text}` };
  } finally {
    server.close();
  }
}

/** Answers SIGTERM with processes in sessions of their own, which answer it too and take the names of package managers. */
async function attackShutdown(t: TestPlatform): Promise<AttackResult> {
  const mark = `${randomInt(1e9, 2e9)}`;
  const code = `const { spawn } = require("child_process");
    const forever = "process.title = 'npm ${mark}'; process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); //";
    const fork = () => {
      for (let n = 0; n < 5; n++) spawn("setsid", [process.execPath, "-e", forever + ${mark}]).on("error", () => {});
      for (let n = 0; n < 20; n++) spawn("setsid", ["sh", "-c", "trap 'sh -c \\"sleep ${mark}\\" &' TERM; while :; do sleep 0.1; : ${mark}; done"]).on("error", () => {});
    };
    fork();
    process.on("SIGTERM", fork);
    require("http").createServer((request, response) => response.end("fine")).listen(3000);`;
  await publishServer(t, "hostile", code);
  await t.request("hostile");
  const startedAt = Date.now();
  await publishServer(t, "hostile", NEIGHBOUR, { generation: 2 });
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const left = await processesWith(mark);
  return { isContained: left.length === 0, text: `${left.length} processes left after ${seconds} s` };
}
