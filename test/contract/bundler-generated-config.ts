import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Bundler } from "../../domain/ports/bundler.ts";
import { type Content, createCheckout, runBundler } from "../support/builds/bundle-checkout.ts";
import { readUploadForm } from "../support/builds/read-upload-form.ts";
import { scriptPathOf } from "../support/builds/script-path.ts";

const DATE = "2026-06-01";
const DATABASE = { binding: "DB", database_name: "app", database_id: "app" };
const ENTRY = `import text from "./chunks/text.js"; export default { fetch: () => new Response(text) };`;

interface Generated {
  /** The folder of the generated configuration. */
  folder: string;
  settings: object;
  /** More files of the build, relative to `folder`. */
  files?: Record<string, string>;
}

/** A project whose build script writes a configuration and a pointer to it, as build tools do. */
function generatingProject({ folder, settings, files = {} }: Generated): Record<string, Content> {
  const config = { name: "app", main: "index.js", compatibility_date: DATE, no_bundle: true, ...settings };
  const outputs = {
    ".wrangler/deploy/config.json": JSON.stringify({ configPath: `../../${folder}/wrangler.json` }),
    [`${folder}/wrangler.json`]: JSON.stringify(config),
    [`${folder}/index.js`]: ENTRY,
    [`${folder}/chunks/text.js`]: `export default "made by the build";`,
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text])),
  };
  const build = `
    import { mkdirSync, writeFileSync } from "node:fs";
    import path from "node:path";
    for (const [name, text] of Object.entries(${JSON.stringify(outputs)})) {
      mkdirSync(path.dirname(name), { recursive: true });
      writeFileSync(name, text.replaceAll("$PWD", process.cwd()));
    }`;
  return { "package.json": JSON.stringify({ scripts: { build: "node build.mjs" } }), "build.mjs": build };
}

const RULES = [{ type: "ESModule", globs: ["**/*.js", "**/*.mjs"] }];

/** Projects whose build writes the wrangler configuration that is deployed, in another folder than the repository's. */
export function generatedConfigContract(bundler: Bundler): void {
  describe("a wrangler configuration that the build generated", () => {
    test.each([
      [
        "wrangler.jsonc",
        `{ "name": "app", /* */ "d1_databases": [${JSON.stringify({ ...DATABASE, migrations_dir: "./db/changes" })}] }`,
      ],
      ["wrangler.json", JSON.stringify({ d1_databases: [{ ...DATABASE, migrations_dir: "db/changes" }] })],
      ["wrangler.toml", `[[d1_databases]]\nbinding = "DB"\ndatabase_id = "app"\nmigrations_dir = "db/changes"\n`],
    ])("migrations are read from the folder that %s names", async (name, config) => {
      const settings = { rules: RULES, d1_databases: [{ ...DATABASE, migrations_dir: "./db/changes" }] };
      await using checkout = await createCheckout({
        ...generatingProject({ folder: "build/server", settings }),
        [name]: config,
        "db/changes/0001_a.sql": "CREATE TABLE a (n INTEGER);",
      });
      const { bundle } = await runBundler(bundler, checkout);
      expect(bundle.migrations).toMatchObject([{ name: "0001_a.sql" }]);
      expect(bundle.warnings).toEqual([]);
    });

    test("migrations are read from the default folder of the repository", async () => {
      const settings = { rules: RULES, d1_databases: [DATABASE] };
      await using checkout = await createCheckout({
        ...generatingProject({ folder: "dist/app", settings }),
        "wrangler.jsonc": JSON.stringify({ d1_databases: [DATABASE] }),
        "migrations/0001_a.sql": "CREATE TABLE a (n INTEGER);",
      });
      const { migrations } = (await runBundler(bundler, checkout)).bundle;
      expect(migrations).toMatchObject([{ name: "0001_a.sql" }]);
    });

    test("migrations are read from the named environment that the build has chosen", async () => {
      const database = { ...DATABASE, migrations_dir: "migrations/production" };
      const settings = { rules: RULES, d1_databases: [database], targetEnvironment: "production" };
      await using checkout = await createCheckout({
        ...generatingProject({ folder: "dist/app", settings }),
        "wrangler.jsonc": JSON.stringify({
          name: "app",
          d1_databases: [{ ...DATABASE, migrations_dir: "migrations/local" }],
          env: { production: { d1_databases: [database] } },
        }),
        "migrations/local/0001_local.sql": "SELECT 1",
        "migrations/production/0001_production.sql": "SELECT 1",
      });
      const { migrations } = (await runBundler(bundler, checkout)).bundle;
      expect(migrations).toMatchObject([{ name: "0001_production.sql" }]);
    });

    test("migrations are read relative to the configuration that the generated file names", async () => {
      const database = { ...DATABASE, migrations_dir: "changes" };
      const settings = { rules: RULES, d1_databases: [database], userConfigPath: "$PWD/worker/wrangler.jsonc" };
      await using checkout = await createCheckout({
        ...generatingProject({ folder: "dist/app", settings }),
        "worker/wrangler.jsonc": JSON.stringify({ name: "app", d1_databases: [database] }),
        "worker/changes/0001_a.sql": "SELECT 1",
      });
      const { migrations } = (await runBundler(bundler, checkout)).bundle;
      expect(migrations).toMatchObject([{ name: "0001_a.sql" }]);
    });

    test("migrations of a database that only a build tool declares are read relative to the repository", async () => {
      const settings = { rules: RULES, d1_databases: [{ ...DATABASE, migrations_dir: "changes" }] };
      await using checkout = await createCheckout({
        ...generatingProject({ folder: "dist/app", settings }),
        "changes/0001_a.sql": "SELECT 1",
      });
      const { migrations } = (await runBundler(bundler, checkout)).bundle;
      expect(migrations).toMatchObject([{ name: "0001_a.sql" }]);
    });

    test("its main script, modules and static files are read relative to its own folder", async () => {
      const settings = {
        rules: [...RULES, { type: "Text", globs: ["**/*.txt"] }, { type: "Data", globs: ["**/*.bin"] }],
        find_additional_modules: true,
        assets: { directory: "../client", binding: "ASSETS" },
      };
      const files = { "greeting.txt": "hello", "data.bin": "bytes", "../client/page.html": "page" };
      await using checkout = await createCheckout({
        ...generatingProject({ folder: "build/server", settings, files }),
        "wrangler.jsonc": JSON.stringify({ main: "src/server.ts", compatibility_date: DATE, assets: {} }),
        "src/server.ts": "throw new Error('never built');",
      });
      const { bundle } = await runBundler(bundler, checkout);
      const { main, modules } = await readUploadForm(scriptPathOf(bundle));
      expect(main).toContain("./chunks/text.js");
      expect(Object.keys(modules).toSorted()).toEqual(["chunks/text.js", "data.bin", "greeting.txt", "index.js"]);
      expect(await readdir(bundle.assets?.directory ?? "")).toEqual(["page.html"]);
    });
  });

  describe("migrations that are not found", () => {
    const project = (settings: object) => ({
      "index.ts": "export default { fetch: (): Response => new Response() };",
      "wrangler.jsonc": JSON.stringify({ main: "index.ts", compatibility_date: DATE, ...settings }),
    });

    test.each([
      [
        "a folder without migrations",
        { d1_databases: [{ ...DATABASE, migrations_dir: "db" }] },
        "db/README.md",
        'The SQL database DB has no tables: no file matches "db/*.sql". Set migrations_dir in the wrangler configuration to a folder with migrations, relative to that file.',
      ],
      [
        "migrations in subfolders",
        { d1_databases: [{ ...DATABASE, migrations_dir: "drizzle" }] },
        "drizzle/20260101_init/migration.sql",
        'The SQL database DB has no tables: its migrations are in subfolders of "drizzle". Set migrations_dir to "drizzle" and migrations_pattern to "drizzle/*/migration.sql" in the wrangler configuration.',
      ],
      [
        "a common folder that is not configured",
        { d1_databases: [DATABASE] },
        "drizzle/0000_init.sql",
        'The SQL database DB has no tables: it has no migrations_dir. Set migrations_dir to "drizzle" in the wrangler configuration.',
      ],
      [
        "a database of a named environment",
        { env: { production: { d1_databases: [DATABASE] } } },
        "migrations/0001_a.sql",
        'The app has no SQL database: only the environment "production" of the wrangler configuration declares one, and the top level is deployed. Declare d1_databases at the top level too.',
      ],
    ])("%s: the bundle has a warning that says what to change", async (_case, settings, file, warning) => {
      await using checkout = await createCheckout({ ...project(settings), [file]: "SELECT 1" });
      const { bundle } = await runBundler(bundler, checkout);
      expect([bundle.migrations, bundle.warnings]).toEqual([[], [warning]]);
    });

    test("a database without migrations is bundled without a warning", async () => {
      await using checkout = await createCheckout(project({ d1_databases: [DATABASE] }));
      expect((await runBundler(bundler, checkout)).bundle.warnings).toEqual([]);
    });
  });
}
