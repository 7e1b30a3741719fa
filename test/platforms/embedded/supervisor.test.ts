import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { isRunning } from "../../../server/sandbox/process-tree.ts";
import { sandboxPids, workerdPids } from "../../support/edge/app-processes.ts";
import { eventually, openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const isRoot = process.getuid?.() === 0;

const HELLO = `export default { fetch: () => new Response("hello") }`;

const STORAGE = { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "notes" }] };

/** An app that misbehaves on request. */
const FAULTY = `const held = [];
export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/loop") for (;;);
  if (pathname === "/heap") for (;;) held.push(new Array(1e5).fill(held.length));
  if (pathname === "/buffers") {
    for (let n = 0; n < 40; n++) held.push(new Uint8Array(1e7).fill(1));
    await new Promise((done) => setTimeout(done, 20_000));
  }
  return new Response("fine");
} }`;

test("an app without requests is stopped, and the next request starts it again", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 100 } });
  await t.publish("shop", HELLO);
  await t.logged("idle app stopped");
  const stopped = [t.platform.supervisor.active, await workerdPids(t.root)];
  expect([stopped, (await t.request("shop")).text]).toEqual([[[], []], "hello"]);
});

test("an app is not stopped as idle during a request that takes longer than the idle and the drain time", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 100, drainMs: 100 } });
  await t.publish(
    "shop",
    `export default { async fetch(request) {
    if (new URL(request.url).pathname === "/slow") await new Promise((done) => setTimeout(done, 2_500));
    return new Response("hello");
  } }`,
  );
  expect((await t.request("shop", "/slow")).text).toBe("hello");
});

test("many simultaneous first requests share one start", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 100 } });
  await t.publish("shop", HELLO);
  await t.logged("idle app stopped");
  const responses = await Promise.all(Array.from({ length: 50 }, () => t.request("shop")));
  expect([new Set(responses.map(({ text }) => text)), countStarts(t)]).toEqual([new Set(["hello"]), 2]);
});

test("the least recently used idle app is stopped when another app needs its process", async () => {
  await using t = await openTestPlatform({ limits: { maxActive: 2 } });
  for (const slug of ["one", "two"]) await t.publish(slug, HELLO);
  await t.request("one");
  await t.publish("three", HELLO);
  expect(t.platform.supervisor.active.toSorted()).toEqual(["one", "three"]);
  expect([(await t.request("two")).text, t.platform.supervisor.active.toSorted()]).toEqual(["hello", ["three", "two"]]);
});

test("503 with Retry-After is the response if every process is busy", async () => {
  await using t = await openTestPlatform({ limits: { maxActive: 1, idleMs: 0 } });
  const slow = `export default { async fetch(request) {
    if (new URL(request.url).pathname === "/slow") await new Promise((done) => setTimeout(done, 2_000));
    return new Response("hello");
  } }`;
  await t.publish("waiting", HELLO);
  await t.publish("busy", slow);
  const slowRequest = t.request("busy", "/slow");
  await eventually(() => (t.platform.supervisor.active.includes("busy") ? true : undefined));
  const response = await t.request("waiting");
  expect([response.status, Number(response.headers["retry-after"]) > 0, (await slowRequest).text]).toEqual([
    503,
    true,
    "hello",
  ]);
});

test("requests for slugs without an app stop no app", async () => {
  await using t = await openTestPlatform({ limits: { maxActive: 1 } });
  await t.publish("shop", HELLO);
  await Promise.all(Array.from({ length: 50 }, (_, n) => t.request(`absent-${n}`)));
  expect(t.platform.supervisor.active).toEqual(["shop"]);
});

test("an app that hangs is killed and starts again, and other apps still respond", async () => {
  await using t = await openTestPlatform({ limits: { hangMs: 1_500 } });
  await t.publish("faulty", FAULTY);
  await t.publish("neighbour", HELLO);
  const hanging = t.request("faulty", "/loop");
  expect((await t.request("neighbour")).text).toBe("hello");
  await t.logged("app process ended", { slug: "faulty", reason: "hang" });
  expect([(await hanging).status, (await t.request("faulty")).text]).toEqual([502, "fine"]);
});

test("an app that runs out of heap crashes alone and starts again", async () => {
  await using t = await openTestPlatform();
  await t.publish("faulty", FAULTY);
  const response = await t.request("faulty", "/heap");
  const entry = await t.logged("app process ended", { slug: "faulty", reason: "crashed" });
  expect([response.status, entry["lastError"], (await t.request("faulty")).text]).toEqual([
    502,
    "The script ran out of memory.",
    "fine",
  ]);
});

test("an app that uses too much memory is killed and starts again", async () => {
  await using t = await openTestPlatform({ limits: { residentMb: 300 } });
  await t.publish("faulty", FAULTY);
  const response = await t.request("faulty", "/buffers");
  await t.logged("app process ended", { slug: "faulty", reason: "memory" });
  expect([response.status, (await t.request("faulty")).text]).toEqual([502, "fine"]);
});

test("an app that fails repeatedly starts with a delay, and a new version starts at once", async () => {
  await using t = await openTestPlatform();
  await t.publish("faulty", FAULTY, { generation: 1 });
  await crashTimes(t, 3);
  const delayed = await t.request("faulty");
  await t.publish("faulty", HELLO, { generation: 2 });
  expect([delayed.status, delayed.headers["retry-after"], (await t.request("faulty")).text]).toEqual([
    503,
    "1",
    "hello",
  ]);
});

test("an app that failed repeatedly because of a variable starts at once after the variable has changed", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 100 } });
  const script = `import { env } from "cloudflare:workers";
    if (env.MODE === "broken") throw new Error("MODE is broken");
    ${HELLO}`;
  await t.publish("shop", script);
  await t.logged("idle app stopped");
  t.variables.set("app-shop", { MODE: "broken" });
  for (let n = 0; n < 4; n++) expect((await t.request("shop")).status).toBe(503);
  t.variables.set("app-shop", { MODE: "working" });
  await t.platform.scripts.restart("shop", AbortSignal.timeout(30_000));
  expect((await t.request("shop")).text).toBe("hello");
});

test("an app that failed repeatedly starts again after the delay", async () => {
  await using t = await openTestPlatform();
  await t.publish("faulty", FAULTY);
  await crashTimes(t, 3);
  const responds = await eventually(async () => ((await t.request("faulty")).status === 200 ? true : undefined));
  expect(responds).toBe(true);
});

verifies(
  hazard(52),
  "publishing a version whose top level never ends fails, and the old version responds without a pause",
  async () => {
    await using t = await openTestPlatform({ limits: { startLimitMs: 2_000 } });
    await t.publish("shop", HELLO, { generation: 1 });
    const publication = t.publish("shop", "for (;;); export default {};", { generation: 2 });
    const sendRequests = async () => {
      for (let n = 0; n < 10; n++) expect((await t.request("shop")).text).toBe("hello");
    };
    await Promise.all([sendRequests(), expect(publication).rejects.toThrow(/used 2 s of CPU time and did not start/)]);
  },
);

test("every sandbox has its own user, and sees only the files of its app", { skip: !isRoot }, async () => {
  await using t = await openTestPlatform();
  await t.publish("one", HELLO, STORAGE);
  await t.publish("two", HELLO, STORAGE);
  const sandboxes = await workerdPids(t.root);
  const users = await Promise.all(
    sandboxes.map(async (pid) => /^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]),
  );
  const root = `/proc/${sandboxes[0]}/root`;
  const seen = await readdir(path.join(root, t.root, "scripts"));
  expect([new Set(users).size, users.includes("0"), seen.length, (await readdir(root)).includes("home")]).toEqual([
    2,
    false,
    1,
    false,
  ]);
});

test.each([
  ["only to its storage and temporary files", STORAGE, ["/scripts/one/app-one/storage", "/databases/db-one"]],
  ["only to temporary files if it uses no storage", {}, []],
])("an app sees no other process, and can write %s", { skip: !isRoot }, async (_case, options, stored) => {
  await using t = await openTestPlatform();
  await t.publish("one", HELLO, options);
  const [pid] = await workerdPids(t.root);
  const processes = (await readdir(`/proc/${pid}/root/proc`)).filter((name) => /^\d+$/.test(name));
  const mounts = (await readFile(`/proc/${pid}/mounts`, "utf8")).trim().split("\n");
  const writable = mounts
    .map((line) => line.split(" "))
    .filter(([, , type = "", options = ""]) => /^rw\b/.test(options) && !/^(proc|devtmpfs|devpts)$/.test(type))
    .map(([, folder = ""]) => folder.replace(t.root, ""));
  // The outer /dev is covered by a read-only one.
  const allowed = ["/dev", "/dev/shm", "/tmp", ...stored];
  expect([processes, new Set(writable)]).toEqual([["1"], new Set(allowed)]);
});

test("no secret of the service is in the environment or arguments of a sandbox", async () => {
  process.env["TEST_SECRET"] = "hunter2";
  await using t = await openTestPlatform();
  await t.publish("shop", HELLO);
  const tree = await sandboxPids(t.root);
  const readable = await Promise.all(
    tree.flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`].map((file) => readFile(file, "utf8"))),
  );
  expect([tree.length > 0, readable.join().includes("hunter2")]).toEqual([true, false]);
});

const FLOOD = `for (;;) console.log("x".repeat(100_000));`;

test("publishing a script that prints without end while it starts fails", async () => {
  await using t = await openTestPlatform();
  await expect(t.publish("shop", `${FLOOD} export default {};`)).rejects.toThrow(/prints without end/);
});

test("an app that prints without end does not use the memory of the service", async () => {
  await using t = await openTestPlatform({ limits: { closeGraceMs: 100 } });
  await t.publish(
    "shop",
    // What a request prints is sent when the app waits.
    `export default { async fetch(request) {
    while (new URL(request.url).pathname === "/flood") {
      for (let n = 0; n < 100; n++) console.log("x".repeat(100_000));
      await new Promise((next) => setTimeout(next));
    }
    return new Response("fine");
  } }`,
  );
  const bytes = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = bytes();
  const flooding = t.request("shop", "/flood").catch(() => null);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(bytes() - before).toBeLessThan(100_000_000);
  await t.platform.close();
  await flooding;
});

test("an app runs without a sandbox", async () => {
  await using t = await openTestPlatform({ sandbox: "none" });
  await t.publish("shop", HELLO);
  expect((await t.request("shop")).text).toBe("hello");
});

test("closing the platform leaves no process", async () => {
  const t = await openTestPlatform();
  await t.publish("one", HELLO);
  await t.publish("two", HELLO);
  const before = await sandboxPids(t.root);
  await t.platform.close();
  const alive = before.filter(isRunning);
  await t[Symbol.asyncDispose]();
  expect([before.length >= 2, alive]).toEqual([true, []]);
});

/** Makes the app crash this number of times. */
async function crashTimes(t: TestPlatform, times: number): Promise<void> {
  const crashes = () => t.log.filter(({ reason }) => reason === "crashed").length;
  for (let n = 1; n <= times; n++) {
    await t.request("faulty", "/heap");
    await eventually(() => (crashes() >= n ? true : undefined));
  }
}

function countStarts(t: TestPlatform): number {
  return t.log.filter(({ message }) => message === "app started").length;
}
