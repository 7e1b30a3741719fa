import { describe, expect, test } from "vitest";
import { StaleGeneration, UnhealthyScript } from "../../domain/ports/edge-platform.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { answering, D1, type EdgePlatformHarness, given, KV } from "./edge-platform-harness.ts";

const COUNTING = `export default { async fetch(request, { KV }) {
  const count = Number(await KV.get("count")) + 1;
  await KV.put("count", String(count));
  return new Response(String(count));
} }`;

/** What every edge platform does. */
export function edgePlatformContract(driver: string, open: () => Promise<EdgePlatformHarness>): void {
  describe(`an edge platform (${driver})`, () => {
    verifies("apps.url", "a published script answers at the URL of its slug", async () => {
      await using h = await given(open);
      const { url } = await h.publish(answering("hello"));
      expect([url, (await h.visit("shop")).text]).toEqual([h.platform.urlOf("shop"), "hello"]);
    });

    test("a script keeps answering when the files it was published from are gone", async () => {
      await using h = await given(open);
      await h.publish(answering("hello"), { files: { "page.html": "a page" } });
      await h.removeSources();
      expect([(await h.visit("shop")).text, (await h.visit("shop", "/page")).text]).toEqual(["hello", "a page"]);
    });

    test("a newer generation replaces the older one", async () => {
      await using h = await given(open);
      await h.publish(answering("one"), { generation: 1 });
      await h.publish(answering("two"), { generation: 2 });
      expect((await h.visit("shop")).text).toBe("two");
    });

    test("publishing a generation again is safe, and the last one counts", async () => {
      await using h = await given(open);
      await h.publish(answering("one"), { generation: 1 });
      await h.publish(answering("one, corrected"), { generation: 1 });
      expect((await h.visit("shop")).text).toBe("one, corrected");
    });

    test("an older generation is refused and the newer one keeps answering", async () => {
      await using h = await given(open);
      await h.publish(answering("two"), { generation: 2 });
      await expect(h.publish(answering("one"), { generation: 1 })).rejects.toThrow(StaleGeneration);
      expect((await h.visit("shop")).text).toBe("two");
    });

    describe.each([
      [
        "answers with a server error",
        `export default { fetch: () => new Response("no", { status: 503 }) }`,
        /status 503/,
      ],
      ["throws", `export default { fetch() { throw new Error("no such table: goods"); } }`, /no such table: goods/],
      ["does not parse", `export default { fetch( }`, /SyntaxError/],
      ["throws while it loads", `throw new TypeError("SECRET is not set"); export default {};`, /SECRET is not set/],
      [
        "runs out of memory",
        `export default { fetch() { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); } }`,
        /out of memory/,
      ],
    ])("a new version that %s", (_, script, reason) => {
      verifies(hazard(52), "is refused with the reason, and the old version keeps answering", async () => {
        await using h = await given(open);
        await h.publish(answering("healthy"), { generation: 1 });
        const refused = h.publish(script, { generation: 2 });
        await expect(refused).rejects.toThrow(UnhealthyScript);
        await expect(refused).rejects.toThrow(reason);
        expect((await h.visit("shop")).text).toBe("healthy");
      });
    });

    verifies(
      hazard(52),
      "requests that come in while a new version is looked at are answered by one version or the other",
      async () => {
        await using h = await given(open);
        await h.publish(answering("one"), { generation: 1 });
        const slow = `export default { async fetch() { await new Promise((done) => setTimeout(done, 300)); return new Response("two"); } }`;
        const answers = new Set<string>();
        const publication = { over: false };
        const clientInfo = (async () => {
          while (!publication.over) answers.add((await h.visit("shop")).text);
        })();
        await h.publish(slow, { generation: 2 });
        publication.over = true;
        await clientInfo;
        expect([...answers].filter((text) => text !== "one" && text !== "two")).toEqual([]);
      },
    );

    test("a script that never went live does not answer, and can be removed", async () => {
      await using h = await given(open);
      await expect(h.publish(`export default { fetch: () => new Response("", { status: 500 }) }`)).rejects.toThrow(
        UnhealthyScript,
      );
      expect((await h.visit("shop")).status).toBe(404);
      await h.platform.unpublish("shop");
      expect(await h.platform.list()).toEqual([]);
    });

    test("an aborted publication leaves the old version answering", async () => {
      await using h = await given(open);
      await h.publish(answering("one"), { generation: 1 });
      const never = `export default { fetch: () => new Promise((done) => setTimeout(done, 60_000)) }`;
      await expect(h.publish(never, { generation: 2, signal: AbortSignal.timeout(1_500) })).rejects.toThrow(/abort/i);
      expect((await h.visit("shop")).text).toBe("one");
    });

    test("an aborted signal publishes nothing", async () => {
      await using h = await given(open);
      await expect(h.publish(answering("one"), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
      expect((await h.visit("shop")).status).toBe(404);
    });

    test("what a script stores survives its next version", async () => {
      await using h = await given(open);
      await h.publish(COUNTING, { generation: 1, bindings: [KV] });
      const before = Number((await h.visit("shop")).text);
      await h.publish(COUNTING, { generation: 2, bindings: [KV] });
      expect(Number((await h.visit("shop")).text)).toBeGreaterThan(before);
    });

    test("unpublishing stops the script, and repeating it succeeds", async () => {
      await using h = await given(open);
      await h.publish(answering("hello"));
      await h.platform.unpublish("shop");
      await h.platform.unpublish("shop");
      expect([(await h.visit("shop")).status, await h.platform.list()]).toEqual([404, []]);
    });

    verifies(hazard(63), "whoever takes a slug after an app was removed finds nothing that it stored", async () => {
      await using h = await given(open);
      await h.publish(COUNTING, { bindings: [KV] });
      await h.platform.unpublish("shop");
      await h.publish(COUNTING, { bindings: [KV], appId: "app-2", databaseId: "db-2" });
      // The health probe was the first to count.
      expect((await h.visit("shop")).text).toBe("2");
    });

    verifies(hazard(62), "a removed script leaves its SQL database alone", async () => {
      await using h = await given(open);
      const script = `export default { async fetch(request, { DB }) { return Response.json(await DB.prepare("SELECT name FROM goods").all().then((r) => r.results)); } }`;
      await h.databases.create("db-1");
      await h.databases.migrate(
        "db-1",
        [{ name: "0001", statements: ["CREATE TABLE goods(name)", "INSERT INTO goods VALUES ('tea')"] }],
        AbortSignal.timeout(30_000),
      );
      await h.publish(script, { bindings: [D1] });
      await h.platform.unpublish("shop");
      await h.publish(script, { bindings: [D1] });
      expect((await h.visit("shop")).text).toBe('[{"name":"tea"}]');
    });

    test("every published script is listed with its app", async () => {
      await using h = await given(open);
      await h.publish(answering("one"), { slug: "one", appId: "app-1" });
      await h.publish(answering("two"), { slug: "two", appId: "app-2", databaseId: "db-2" });
      const listed = (await h.platform.list()).toSorted((a, b) => a.slug.localeCompare(b.slug));
      expect(listed).toEqual([
        { slug: "one", appId: "app-1" },
        { slug: "two", appId: "app-2" },
      ]);
    });
  });
}
