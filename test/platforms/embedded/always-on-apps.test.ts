import { expect, test } from "vitest";
import { publishServer } from "../../support/edge/node-server.ts";
import { openLocalSupervisor } from "../../support/edge/local-supervisor.ts";
import { eventually, openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const HELLO = `export default { fetch: () => new Response("hello") }`;
const SERVER = `require("http").createServer((request, response) => {
    if (request.url === "/crash") process.exit(1);
    response.end("hello");
  }).listen(process.env.PORT);`;

const app = (slug: string) => ({ appId: `app-${slug}`, slug });
const countEntries =
  (message: string) =>
  ({ log }: TestPlatform, slug: string) =>
    log.filter((entry) => entry.message === message && entry["slug"] === slug).length;
const startsOf = countEntries("app started");
const endsOf = countEntries("app process ended");
const started = (t: TestPlatform, slug: string, times: number) =>
  eventually(() => (startsOf(t, slug) >= times ? true : undefined));

test("an app that is always on is not stopped when it is idle, until it is no longer always on", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 100 } });
  t.platform.alwaysOn.set([app("bot")]);
  await t.publish("bot", HELLO);
  await t.publish("shop", HELLO);
  await t.logged("idle app stopped", { slug: "shop" });
  await t.publish("late", HELLO);
  await t.logged("idle app stopped", { slug: "late" });
  expect(t.platform.supervisor.active).toEqual(["bot"]);
  t.platform.alwaysOn.set([]);
  await t.logged("idle app stopped", { slug: "bot" });
});

test("an app that is always on starts without a request, also after the platform has restarted", async () => {
  await using folder = await temporaryFolder();
  const options = { dataDirectory: folder.path, limits: { idleMs: 100 } };
  {
    await using t = await openTestPlatform(options);
    await publishServer(t, "bot", SERVER);
    await t.logged("idle app stopped");
    t.platform.alwaysOn.set([app("bot"), app("absent")]);
    await started(t, "bot", 2);
  }
  await using t = await openTestPlatform(options);
  t.platform.alwaysOn.set([app("bot"), app("absent")]);
  await started(t, "bot", 1);
});

test("an app that is always on starts without a request after it has crashed, and with a delay if it crashes repeatedly", async () => {
  await using t = await openTestPlatform();
  await publishServer(t, "bot", SERVER);
  t.platform.alwaysOn.set([app("bot")]);
  for (const count of [1, 2, 3]) {
    expect(await t.request("bot", "/crash")).toMatchObject({ status: 502 });
    await eventually(() => (endsOf(t, "bot") === count ? true : undefined));
    if (count < 3) await started(t, "bot", count + 1);
  }
  expect((await t.request("bot")).status).toBe(503);
  await started(t, "bot", 4);
});

test("an app that is always on, and stores too much, does not start without the request of its owner", async () => {
  await using t = await openTestPlatform();
  await publishServer(t, "bot", SERVER);
  await t.platform.storage.restrict(app("bot"), { message: "too large", servesOwner: true });
  t.platform.alwaysOn.set([app("bot"), app("next")]);
  await publishServer(t, "next", SERVER);
  expect(t.platform.supervisor.active).toEqual(["next"]);
});

test("apps that are always on have at most half of the processes, and are not stopped for other apps", async () => {
  await using t = await openTestPlatform({ limits: { maxActive: 4 } });
  for (const slug of ["one", "two", "three", "four", "five"]) await t.publish(slug, HELLO);
  t.platform.alwaysOn.set(["one", "two", "three"].map(app));
  await started(t, "one", 2);
  for (const slug of ["three", "four", "five", "three"]) expect((await t.request(slug)).text).toBe("hello");
  expect(t.platform.supervisor.active.toSorted()).toEqual(["five", "one", "three", "two"]);
});

test("an app that is always on is still killed when it hangs", async () => {
  await using local = await openLocalSupervisor({ idleMs: 0, hangMs: 0 });
  local.kept.push("app-bot");
  await local.publish("bot");
  local.processes[0]!.isHanging = true;
  await eventually(() => (local.messages().includes("app process ended") ? true : undefined));
});
