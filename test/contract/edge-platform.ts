import { describe, expect, test } from "vitest";
import { ServerError, StaleGeneration, UnhealthyScript } from "../../domain/ports/edge-platform.ts";
import { findMissingVariables } from "../../domain/shared/missing-variables.ts";
import { hazard, verifies } from "../support/verifies.ts";
import {
  D1,
  type EdgePlatformFeatures,
  type EdgePlatformHarness,
  KV,
  openWithSources,
  respondingWith,
} from "./edge-platform-harness.ts";

const COUNTING = `export default { async fetch(request, { KV }) {
  const count = Number(await KV.get("count")) + 1;
  await KV.put("count", String(count));
  return new Response(String(count));
} }`;

/** The contract of every edge platform. */
export function edgePlatformContract(
  driver: string,
  open: () => Promise<EdgePlatformHarness>,
  { readsOutput, limitsMemory }: EdgePlatformFeatures = { readsOutput: true, limitsMemory: true },
): void {
  describe(`an edge platform (${driver})`, () => {
    verifies("apps.url", "a published script responds at the URL of its slug", async () => {
      await using h = await openWithSources(open);
      const { url } = await h.publish(respondingWith("hello"));
      expect([url, (await h.request("shop")).text]).toEqual([h.platform.urlOf("shop"), "hello"]);
    });

    test("a script still responds after the files that it was published from are removed", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("hello"), { files: { "page.html": "a page" } });
      await h.removeSources();
      expect([(await h.request("shop")).text, (await h.request("shop", "/page")).text]).toEqual(["hello", "a page"]);
    });

    test("a newer generation replaces the older one", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("one"), { generation: 1 });
      await h.publish(respondingWith("two"), { generation: 2 });
      expect((await h.request("shop")).text).toBe("two");
    });

    test("publishing a generation again replaces its script", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("one"), { generation: 1 });
      await h.publish(respondingWith("one, corrected"), { generation: 1 });
      expect((await h.request("shop")).text).toBe("one, corrected");
    });

    test("publishing an older generation fails, and the newer one still responds", async () => {
      await using h = await openWithSources(open);
      expect(await h.platform.liveGeneration("shop")).toBeNull();
      await h.publish(respondingWith("two"), { generation: 2 });
      await expect(h.publish(respondingWith("one"), { generation: 1 })).rejects.toThrow(StaleGeneration);
      expect((await h.request("shop")).text).toBe("two");
      expect(await h.platform.liveGeneration("shop")).toBe(2);
    });

    for (const [defect, script, reason] of [
      [
        "responds with a server error",
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
    ] as const) {
      if (defect === "runs out of memory" && !limitsMemory) continue;
      verifies(
        hazard(52),
        `publishing a new version that ${defect} fails with the reason, and the old version still responds`,
        async () => {
          await using h = await openWithSources(open);
          await h.publish(respondingWith("healthy"), { generation: 1 });
          const publication = h.publish(script, { generation: 2 });
          await expect(publication).rejects.toThrow(UnhealthyScript);
          await expect(publication).rejects.toThrow(reason);
          expect((await h.request("shop")).text).toBe("healthy");
        },
      );
    }

    verifies(
      hazard(52),
      "a request during the probe of a new version gets the response of the old or the new version",
      async () => {
        await using h = await openWithSources(open);
        await h.publish(respondingWith("one"), { generation: 1 });
        const slow = `export default { async fetch() { await new Promise((done) => setTimeout(done, 300)); return new Response("two"); } }`;
        const responses = new Set<string>();
        const publication = { isFinished: false };
        const client = (async () => {
          while (!publication.isFinished) responses.add((await h.request("shop")).text);
        })();
        await h.publish(slow, { generation: 2 });
        publication.isFinished = true;
        await client;
        expect([...responses].filter((text) => text !== "one" && text !== "two")).toEqual([]);
      },
    );

    test("a script with server errors goes live where no script works, and replaces none that works", async () => {
      await using h = await openWithSources(open);
      const failing = `console.log("one\\ntwo"); export default { fetch() { throw new Error("broken") } }`;
      for (const generation of [1, 2]) {
        const { problem } = await h.publish(failing, { generation });
        expect(problem?.message).toBe("The app responded to its health check (GET /) with status 500: Error: broken");
        expect(problem?.printed).toEqual([...(readsOutput ? ["one", "two"] : []), "Error: broken"]);
      }
      expect((await h.publish(respondingWith("healthy"), { generation: 3 })).problem ?? null).toBeNull();
      await expect(h.publish(failing, { generation: 4 })).rejects.toThrow(ServerError);
      expect((await h.request("shop")).text).toBe("healthy");
    });

    test("a script that ends with the error of a validator says which variables it misses, all of them", async () => {
      await using h = await openWithSources(open);
      const names = ["AUTH_SECRET", "POSTGRES_URL", "AUTH_DISCORD_ID", "AUTH_DISCORD_SECRET"];
      const issues = names.map((name) => ({
        expected: "string",
        code: "invalid_type",
        path: [name],
        message: "Invalid input: expected string, received undefined",
      }));
      for (const printed of [issues, JSON.stringify({ issues })]) {
        const script = `console.error("❌ Invalid environment variables:", ${JSON.stringify(printed)}); throw new Error("Invalid environment variables"); export default {};`;
        const error = await h.publish(script, { generation: 1 }).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(UnhealthyScript);
        // A platform that does not read what a script prints has only the error.
        expect(findMissingVariables((error as UnhealthyScript).printed)).toEqual(readsOutput ? names : []);
      }
    });

    test("a script that never became live does not respond, and can be removed", async () => {
      await using h = await openWithSources(open);
      await expect(h.publish(`throw new Error("broken"); export default { fetch() {} }`)).rejects.toThrow(
        UnhealthyScript,
      );
      expect((await h.request("shop")).status).toBe(404);
      await h.platform.unpublish("shop");
      expect(await h.platform.list()).toEqual([]);
    });

    test("the old version still responds after an aborted publication", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("one"), { generation: 1 });
      const never = `export default { fetch: () => new Promise((done) => setTimeout(done, 60_000)) }`;
      await expect(h.publish(never, { generation: 2, signal: AbortSignal.timeout(1_500) })).rejects.toThrow(/abort/i);
      expect((await h.request("shop")).text).toBe("one");
    });

    test("an aborted signal publishes nothing", async () => {
      await using h = await openWithSources(open);
      await expect(h.publish(respondingWith("one"), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
      expect((await h.request("shop")).status).toBe(404);
    });

    test("the stored data of a script is kept in its next version", async () => {
      await using h = await openWithSources(open);
      await h.publish(COUNTING, { generation: 1, bindings: [KV] });
      const before = Number((await h.request("shop")).text);
      await h.publish(COUNTING, { generation: 2, bindings: [KV] });
      expect(Number((await h.request("shop")).text)).toBeGreaterThan(before);
    });

    test("unpublishing a script stops it, and can be repeated", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("hello"));
      await h.platform.unpublish("shop");
      await h.platform.unpublish("shop");
      expect([(await h.request("shop")).status, await h.platform.list()]).toEqual([404, []]);
    });

    verifies(hazard(63), "a new app at the slug of a removed app finds none of its stored data", async () => {
      await using h = await openWithSources(open);
      await h.publish(COUNTING, { bindings: [KV] });
      for (let n = 0; n < 5; n++) await h.request("shop");
      await h.platform.unpublish("shop");
      await h.publish(COUNTING, { bindings: [KV], appId: "app-2", databaseId: "db-2" });
      // The requests of the publication counted.
      expect(Number((await h.request("shop")).text)).toBeLessThan(5);
    });

    verifies(hazard(62), "removing a script keeps its SQL database", async () => {
      await using h = await openWithSources(open);
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
      expect((await h.request("shop")).text).toBe('[{"name":"tea"}]');
    });

    test("the list contains every published script with its app", async () => {
      await using h = await openWithSources(open);
      await h.publish(respondingWith("one"), { slug: "one", appId: "app-1" });
      await h.publish(respondingWith("two"), { slug: "two", appId: "app-2", databaseId: "db-2" });
      const listed = (await h.platform.list()).toSorted((a, b) => a.slug.localeCompare(b.slug));
      expect(listed).toEqual([
        { slug: "one", appId: "app-1" },
        { slug: "two", appId: "app-2" },
      ]);
    });
  });
}
