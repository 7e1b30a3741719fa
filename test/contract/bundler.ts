import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Bundler } from "../../domain/ports/bundler.ts";
import { readUploadForm } from "../support/builds/read-upload-form.ts";
import { runBundler, createCheckout, bundleFailure } from "../support/builds/bundle-checkout.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { scriptPathOf } from "../support/builds/script-path.ts";

const WORKER = `export default { fetch: (): Response => new Response("hello") };`;

function wranglerConfig(settings: object): string {
  return JSON.stringify({ main: "index.ts", compatibility_date: "2026-06-01", ...settings });
}

/** The contract of every `Bundler`. */
export function bundlerContract(bundler: Bundler): void {
  describe("a bundler", () => {
    describe("finding what to deploy", () => {
      test.each([
        ["src/index.ts", {}],
        ["src/worker.js", {}],
        ["index.mjs", {}],
        ["worker.tsx", {}],
        ["lib/app.ts", { main: "./lib/app.ts" }],
      ])("a script at %s is found without a wrangler configuration", async (file, manifest) => {
        await using checkout = await createCheckout({
          [file]: WORKER.replace(": Response", ""),
          "package.json": JSON.stringify(manifest),
        });
        const { bundle } = await runBundler(bundler, checkout);
        const { metadata, main } = await readUploadForm(scriptPathOf(bundle));
        expect([metadata.compatibility_date, main]).toEqual(["2026-07-01", expect.stringContaining("hello")]);
        expect(bundle).toMatchObject({ assets: null, framework: null, migrations: [] });
      });

      test.each([
        ["wrangler.toml", `main = "app.ts"\ncompatibility_date = "2026-06-01"\n[vars]\nGREETING = "hi"\n`],
        ["wrangler.json", `{"main": "app.ts", "compatibility_date": "2026-06-01", "vars": {"GREETING": "hi"}}`],
        ["wrangler.jsonc", `{"main": "app.ts", "compatibility_date": "2026-06-01", "vars": {"GREETING": "hi"} /* */}`],
      ])("the main script and the settings of %s are used", async (name, config) => {
        await using checkout = await createCheckout({ [name]: config, "app.ts": WORKER });
        const { metadata } = await readUploadForm(scriptPathOf((await runBundler(bundler, checkout)).bundle));
        expect(metadata).toMatchObject({
          compatibility_date: "2026-06-01",
          bindings: [{ type: "plain_text", name: "GREETING", text: "hi" }],
        });
      });

      test("a configuration that the build generated is used when the build wrote a pointer to it", async () => {
        const build = `mkdir -p .wrangler/deploy dist && echo '{"configPath":"../../dist/wrangler.json"}' >.wrangler/deploy/config.json && echo '{"main":"made.js","compatibility_date":"2026-06-01"}' >dist/wrangler.json && echo 'export default { fetch: () => new Response("made") }' >dist/made.js`;
        await using checkout = await createCheckout({
          "package.json": JSON.stringify({ scripts: { build } }),
          "wrangler.json": wranglerConfig({}),
          "index.ts": WORKER,
        });
        const { main } = await readUploadForm(scriptPathOf((await runBundler(bundler, checkout)).bundle));
        expect(main).toContain("made");
      });

      test.each([
        ["index.html at the root", "", "none"],
        ["public/index.html", "public/", "none"],
        ["public/index.html with a 404 page", "public/", "404-page"],
      ])("static files are found: %s", async (_case, folder, notFound) => {
        await using checkout = await createCheckout({
          [`${folder}index.html`]: "<h1>hello</h1>",
          [`${folder}css/style.css`]: "h1 {}",
          ...(notFound === "404-page" ? { [`${folder}404.html`]: "nothing" } : {}),
          "package.json": "{}",
          ".env": "SECRET=1",
        });
        const { assets } = (await runBundler(bundler, checkout)).bundle;
        const files = (await readdir(assets?.directory ?? "", { recursive: true })).toSorted();
        const page = notFound === "404-page" ? ["404.html"] : [];
        expect(files).toEqual([...page, "css", "css/style.css", "index.html"]);
        expect(assets?.rules.not_found_handling).toBe(notFound);
      });

      test("the pages that a build script wrote to dist are found", async () => {
        const build = "mkdir dist && echo '<h1>built</h1>' >dist/index.html";
        await using checkout = await createCheckout({ "package.json": JSON.stringify({ scripts: { build } }) });
        const { assets } = (await runBundler(bundler, checkout)).bundle;
        expect(await readFile(`${assets?.directory}/index.html`, "utf8")).toBe("<h1>built</h1>\n");
      });

      test("a repository without anything to deploy fails, and the advice names every accepted place", async () => {
        const { kind, message, advice } = await bundleFailure(bundler, { "README.md": "# Nothing" });
        expect([kind, message]).toEqual([
          "user",
          "There is nothing to deploy: no wrangler configuration, no script and no index.html was found.",
        ]);
        for (const place of ["wrangler.jsonc", "package.json", "src/index.ts", "worker.ts", "public/index.html"])
          expect(advice).toContain(place);
      });
    });

    describe("static files", () => {
      const configured = wranglerConfig({
        assets: { directory: "static", html_handling: "none", run_worker_first: ["/api/*"] },
      });

      test("static files have the rules of the configuration, and .assetsignore excludes files", async () => {
        await using checkout = await createCheckout({
          "wrangler.json": configured,
          "index.ts": WORKER,
          "static/page.html": "page",
          "static/page.html.map": "map",
          "static/.assetsignore": "*.map\n",
          "static/_headers": "/*\n  x-frame-options: DENY\n",
        });
        const { assets } = (await runBundler(bundler, checkout)).bundle;
        expect(await readdir(assets?.directory ?? "")).toEqual(["_headers", "page.html"]);
        expect(assets?.rules).toEqual({ html_handling: "none", run_worker_first: ["/api/*"] });
      });

      verifies(
        [hazard(15), hazard(16)],
        "links among the static files are skipped, and the log names each of them",
        async () => {
          await using checkout = await createCheckout({
            "wrangler.json": configured,
            "index.ts": WORKER,
            "static/page.html": "page",
            "static/folder": { link: "/etc/ssl" },
            "static/passwd.txt": { link: "/etc/passwd" },
            "static/own.html": { link: "page.html" },
          });
          const { bundle, log } = await runBundler(bundler, checkout);
          expect(await readdir(bundle.assets?.directory ?? "", { recursive: true })).toEqual(["page.html"]);
          for (const name of ["folder", "passwd.txt", "own.html"]) expect(log).toContain(`Skipped ${name}:`);
        },
      );

      verifies(hazard(16), "a static files folder that the build replaced by a link is refused", async () => {
        const failure = await bundleFailure(bundler, {
          "package.json": JSON.stringify({ scripts: { build: "rm -r static && ln -s /etc/ssl static" } }),
          "wrangler.json": configured,
          "index.ts": WORKER,
          "static/page.html": "page",
        });
        expect(failure).toMatchObject({
          kind: "user",
          message: 'The static files folder "static" was not found in the repository after the build.',
        });
      });

      verifies(hazard(15), "a static files folder outside the repository is refused", async () => {
        const failure = await bundleFailure(bundler, {
          "wrangler.json": wranglerConfig({ assets: { directory: "../etc/ssl" } }),
          "index.ts": WORKER,
        });
        expect(failure).toMatchObject({ kind: "user", message: expect.stringContaining('folder "../etc/ssl"') });
      });

      verifies(hazard(18), "a _redirects file above the size limit is refused", async () => {
        const failure = await bundleFailure(bundler, {
          "wrangler.json": configured,
          "index.ts": WORKER,
          "static/_redirects": "/a /b 301\n".repeat(60_000),
        });
        expect(failure).toMatchObject({ kind: "user", message: expect.stringContaining("_redirects is larger") });
      });

      verifies(hazard(18), "static files with a path above the length limit are refused", async () => {
        const nest = "for n in $(seq 20); do mkdir $(printf d%.0s $(seq 100)) && cd d*; done";
        const failure = await bundleFailure(bundler, {
          "package.json": JSON.stringify({ scripts: { build: `cd static && ${nest}` } }),
          "wrangler.json": configured,
          "index.ts": WORKER,
          "static/page.html": "page",
        });
        expect(failure).toMatchObject({
          kind: "user",
          message: expect.stringContaining("path of more than 1024 bytes"),
        });
      });

      test("a static file larger than 25 MiB is refused, and the failure names it", async () => {
        const failure = await bundleFailure(bundler, {
          "wrangler.json": configured,
          "index.ts": WORKER,
          "static/film.bin": Buffer.alloc(26 * 1024 * 1024),
        });
        expect(failure).toMatchObject({ kind: "user", message: expect.stringContaining("film.bin") });
      });
    });

    describe("migrations", () => {
      const database = { binding: "DB", database_name: "app", database_id: "app" };

      test("migrations are ordered by their numbers and split into statements", async () => {
        const trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET n = 1; DELETE FROM a; END";
        await using checkout = await createCheckout({
          "wrangler.json": wranglerConfig({ d1_databases: [database] }),
          "index.ts": WORKER,
          "migrations/0010_third.sql": `INSERT INTO a VALUES ('one; two'); -- a; comment\nSELECT 1;`,
          "migrations/0002_second.sql": `/* a; comment */\n${trigger};`,
          "migrations/0001_first.sql": "CREATE TABLE a (n INTEGER);\nCREATE TABLE b (n INTEGER);\n",
          "migrations/0011_nothing.sql": "-- Only a comment.\n",
          "migrations/README.md": "Not a migration.",
        });
        const { migrations } = (await runBundler(bundler, checkout)).bundle;
        expect(migrations.map(({ name, statements }) => [name, statements.length])).toEqual([
          ["0001_first.sql", 2],
          ["0002_second.sql", 1],
          ["0010_third.sql", 2],
          ["0011_nothing.sql", 0],
        ]);
        expect(migrations[1]?.statements[0]).toContain(trigger);
        expect(migrations[2]?.statements[0]).toContain("'one; two'");
      });

      test("migrations are read from the folder that the configuration names", async () => {
        await using checkout = await createCheckout({
          "wrangler.json": wranglerConfig({ d1_databases: [{ ...database, migrations_dir: "db/changes" }] }),
          "index.ts": WORKER,
          "db/changes/1.sql": "SELECT 1",
        });
        expect((await runBundler(bundler, checkout)).bundle.migrations).toEqual([
          { name: "1.sql", statements: ["SELECT 1"] },
        ]);
      });

      test("an app that declares two databases is refused", async () => {
        const second = { ...database, binding: "LOG", database_name: "log", database_id: "log" };
        const failure = await bundleFailure(bundler, {
          "wrangler.json": wranglerConfig({ d1_databases: [database, second] }),
          "index.ts": WORKER,
        });
        expect(failure).toMatchObject({
          kind: "user",
          message: "The app declares 2 SQL databases (DB, LOG). An app can have only one.",
        });
      });
    });

    describe("failures", () => {
      test("a failed build script is reported with its exit code and its last line", async () => {
        const build = String.raw`echo fine; printf '\033[31m%s\033[0m\n' "$PWD/src/a.ts is wrong" >&2; exit 3`;
        const failure = await bundleFailure(bundler, { "package.json": JSON.stringify({ scripts: { build } }) });
        expect(failure).toMatchObject({
          kind: "user",
          message: "The build failed with exit code 3: src/a.ts is wrong",
        });
      });

      test("an import that cannot be resolved is reported with its name and location", async () => {
        const failure = await bundleFailure(bundler, { "src/index.ts": `import "nowhere";\n${WORKER}` });
        expect(failure).toMatchObject({
          kind: "user",
          message: `The app could not be bundled: Could not resolve "nowhere" (src/index.ts:1:7)`,
        });
      });

      test("an invalid wrangler configuration is reported with the name of the field", async () => {
        const failure = await bundleFailure(bundler, {
          "wrangler.json": wranglerConfig({ d1_databases: 5 }),
          "index.ts": WORKER,
        });
        expect(failure.message).toContain(`The field "d1_databases" should be an array but got 5.`);
      });

      test("a package.json that is not JSON is refused", async () => {
        expect(await bundleFailure(bundler, { "package.json": `{"name":` })).toMatchObject({
          kind: "user",
          message: expect.stringMatching(/^package\.json is invalid: /),
        });
      });

      verifies(hazard(15), "a package.json that is a link is not followed", async () => {
        const failure = await bundleFailure(bundler, { "package.json": { link: "/etc/passwd" } });
        expect(failure.message).toMatch(/^There is nothing to deploy/);
      });
    });

    test("an aborted build rejects with the reason of the abort", async () => {
      await using checkout = await createCheckout({
        "package.json": JSON.stringify({ scripts: { build: "sleep 60" } }),
      });
      const reason = new Error("canceled");
      await expect(runBundler(bundler, checkout, abortSoon(reason))).rejects.toBe(reason);
    });
  });
}

function abortSoon(reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 300);
  return controller.signal;
}
