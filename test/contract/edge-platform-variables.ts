import { describe, expect, test } from "vitest";
import { UnhealthyScript } from "../../domain/ports/edge-platform.ts";
import { D1, type EdgePlatformHarness, openWithSources } from "./edge-platform-harness.ts";

/** Responds with the variables GREETING and DECLARED, and fails to start with MODE=broken. */
const SCRIPT = `
  import { env as own } from "cloudflare:workers";
  if (own.MODE === "broken") throw new Error("MODE is broken with " + own.KEY);
  const count = { requests: 0 };
  export default { fetch(request, env) {
    return Response.json([env.GREETING ?? null, env.DECLARED ?? null, typeof env.DB, ++count.requests]);
  } }`;
const BINDINGS = [{ type: "plain_text", name: "DECLARED", text: "by the script" }, D1];

/** The contract of every edge platform about the variables of apps. */
export function edgePlatformVariablesContract(driver: string, open: () => Promise<EdgePlatformHarness>): void {
  describe(`variables on an edge platform (${driver})`, () => {
    const restart = (h: EdgePlatformHarness) => h.platform.restart("shop", AbortSignal.timeout(30_000));
    const shown = async (h: EdgePlatformHarness) => JSON.parse((await h.request("shop")).text) as unknown[];

    test("a script starts with the variables of its app, which replace the variables that it declares", async () => {
      await using h = await openWithSources(open);
      h.variables.set("app-1", { GREETING: "hello", DECLARED: "by the app" });
      h.variables.set("app-2", { GREETING: "of another app" });
      await h.publish(SCRIPT, { bindings: BINDINGS });
      expect((await shown(h)).slice(0, 3)).toEqual(["hello", "by the app", "object"]);
    });

    test("a restart gives a running script the newest variables, and does nothing if it has them", async () => {
      await using h = await openWithSources(open);
      await h.publish(SCRIPT, { bindings: BINDINGS });
      const requests = Number((await shown(h))[3]);
      await restart(h);
      expect(await shown(h)).toEqual([null, "by the script", "object", requests + 1]);
      h.variables.set("app-1", { GREETING: "hello" });
      expect(await shown(h)).toEqual([null, "by the script", "object", requests + 2]);
      await restart(h);
      expect(await shown(h)).toEqual(["hello", "by the script", "object", 1]);
    });

    test("a script that does not start with the newest variables continues to run with the earlier ones", async () => {
      await using h = await openWithSources(open);
      h.variables.set("app-1", { GREETING: "hello" });
      await h.publish(SCRIPT, { bindings: BINDINGS });
      const requests = Number((await shown(h))[3]);
      h.variables.set("app-1", { MODE: "broken", KEY: "secret-key-1" });
      await expect(restart(h)).rejects.toThrow(UnhealthyScript);
      await expect(restart(h)).rejects.toThrow("MODE is broken with [masked]");
      expect(await shown(h)).toEqual(["hello", "by the script", "object", requests + 1]);
    });

    test("a variable with the name of a binding to a resource prevents a publication and a restart, and names the binding", async () => {
      await using h = await openWithSources(open);
      await h.publish(SCRIPT, { bindings: BINDINGS });
      h.variables.set("app-1", { DB: "mine" });
      const message = 'The variable "DB" has the name of a binding of the app (d1).';
      await expect(restart(h)).rejects.toThrow(message);
      await expect(h.publish(SCRIPT, { bindings: BINDINGS, generation: 2 })).rejects.toThrow(message);
      expect((await shown(h)).slice(0, 3)).toEqual([null, "by the script", "object"]);
    });

    test("a script gets variables without a text, and those of every JSON type", async () => {
      await using h = await openWithSources(open);
      const values = { NUMBER: 0, FALSE: false, NOTHING: null, LIST: [], OBJECT: { nested: "" } };
      const json = Object.entries(values).map(([name, value]) => ({ type: "json", name, json: value }));
      const texts = ["plain_text", "secret_text"].map((type) => ({ type, name: type.toUpperCase(), text: "" }));
      await h.publish("export default { fetch: (request, env) => Response.json(env) }", {
        bindings: [...texts, ...json],
      });
      expect(JSON.parse((await h.request("shop")).text)).toEqual({ PLAIN_TEXT: "", SECRET_TEXT: "", ...values });
    });

    test("a script without its required variables is rejected with the names of those that are not set", async () => {
      await using h = await openWithSources(open);
      const bindings = ["GREETING", "DECLARED", "OTHER"].map((name) => ({ type: "required_secret", name }));
      h.variables.set("app-1", { DECLARED: "" });
      const publication = h.publish(SCRIPT, { bindings });
      await expect(publication).rejects.toThrow(
        "The app requires the variables GREETING and OTHER, which are not set.",
      );
      h.variables.set("app-1", { GREETING: "hello", DECLARED: "", OTHER: "set" });
      await h.publish(SCRIPT, { bindings, generation: 2 });
      expect((await shown(h)).slice(0, 2)).toEqual(["hello", ""]);
    });

    test("a restart where no script is live succeeds", async () => {
      await using h = await openWithSources(open);
      await restart(h);
      expect((await h.request("shop")).status).toBe(404);
    });
  });
}
