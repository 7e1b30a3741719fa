import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Bundle } from "../../domain/ports/bundler.ts";
import { type AppResponse, openTestPlatform } from "../support/edge/test-platform.ts";
import { readUploadForm } from "../support/builds/read-upload-form.ts";
import { createMachineBundler } from "../support/builds/create-bundler.ts";
import { bundleFailure, runBundler, createCheckout } from "../support/builds/bundle-checkout.ts";
import { scriptPathOf } from "../support/builds/script-path.ts";

function manifest(dependencies: Record<string, string>, scripts?: Record<string, string>): string {
  return JSON.stringify({ private: true, type: "module", dependencies, scripts });
}

const REACT = {
  "index.html": `<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>`,
  "src/main.tsx": `import { createRoot } from "react-dom/client";\ncreateRoot(document.querySelector("#root")!).render(<h1>hello</h1>);`,
};
const REACT_PACKAGES = { react: "19.3.1", "react-dom": "19.3.1", vite: "8.3.8", "@vitejs/plugin-react": "6.3.0" };

const viteConfig = (plugins: string, imports: string) =>
  `import react from "@vitejs/plugin-react";\n${imports}\nexport default { plugins: [react(), ${plugins}] };`;

describe("a bundler with real frameworks", () => {
  test("a React app with Vite and without a build script is bundled as a single-page application", async () => {
    await using checkout = await createCheckout({
      ...REACT,
      "package.json": manifest(REACT_PACKAGES),
      "vite.config.ts": viteConfig("", ""),
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(bundle).toMatchObject({
      framework: "vite",
      assets: { rules: { not_found_handling: "single-page-application" } },
    });
    expect(await readdir(bundle.assets?.directory ?? "")).toEqual(["assets", "index.html"]);
  });

  test("a build script can run a version of workerd from before February 2025", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest({ workerd: "1.20241230.0" }, { build: "workerd --version" }),
      "index.js": "export default { fetch: () => new Response() };",
    });
    const { log } = await runBundler(createMachineBundler(), checkout);
    expect(log).toContain("workerd 2024-12-30");
  });

  test.each([
    ["yarn@3.8.7", "Using Yarn 3.8.7, from the package registry."],
    ["bun@1.2.23", "Using Bun 1.2.23, from the package registry."],
  ])("a project that names %s is installed and built with it", async (packageManager, line) => {
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({
        packageManager,
        dependencies: { "is-odd": "3.0.1" },
        scripts: { build: `${packageManager.split("@", 1)[0]} --version` },
      }),
      "index.js": `import odd from "is-odd";\nexport default { fetch: () => new Response(odd(1)) };`,
    });
    const { log } = await runBundler(createMachineBundler(), checkout);
    expect(log).toContain(line);
    expect(log).toContain(`\n${packageManager.split("@")[1]}\n`);
  });

  test("a static Astro site is bundled with its 404 page", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest({ astro: "7.3.5" }, { build: "astro build" }),
      "src/pages/index.astro": "---\nconst name = 'Astro';\n---\n<h1>hello {name}</h1>\n",
      "src/pages/404.astro": "<h1>nothing</h1>\n",
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(bundle).toMatchObject({ framework: "astro", assets: { rules: { not_found_handling: "404-page" } } });
    expect((await readdir(bundle.assets?.directory ?? "")).toSorted()).toEqual(["404.html", "index.html"]);
  });

  test("the configuration that Cloudflare's Vite plugin generates is used for script and static files", async () => {
    await using checkout = await createCheckout({
      ...REACT,
      "package.json": manifest({ ...REACT_PACKAGES, "@cloudflare/vite-plugin": "1.64.0" }, { build: "vite build" }),
      "vite.config.ts": viteConfig("cloudflare()", `import { cloudflare } from "@cloudflare/vite-plugin";`),
      "wrangler.jsonc": `{ "name": "app", "main": "worker/index.ts", "compatibility_date": "2026-06-01", "assets": { "not_found_handling": "single-page-application" }, "d1_databases": [{ "binding": "DB", "database_id": "app", "migrations_dir": "db" }] }`,
      "db/0001_a.sql": "CREATE TABLE a (n INTEGER);",
      "worker/index.ts": `export default { fetch: (): Response => new Response("from the worker") };`,
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(Object.values((await readUploadForm(scriptPathOf(bundle))).modules).join("\n")).toContain("from the worker");
    expect(bundle.assets?.rules.not_found_handling).toBe("single-page-application");
    expect(await readdir(bundle.assets?.directory ?? "")).toContain("index.html");
    expect(bundle.migrations).toMatchObject([{ name: "0001_a.sql" }]);
  });

  test("a Nuxt app without a preset becomes a script that renders its pages", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest({ nuxt: "4.5.2" }, { build: "nuxt build" }),
      "app/app.vue": "<template><h1>hello {{ 20 + 1 }}</h1></template>",
      "server/api/sum.ts": "export default defineEventHandler(() => ({ sum: 1 + 1 }));",
      "wrangler.jsonc": JSON.stringify({ d1_databases: [{ binding: "DB", database_id: "app", migrations_dir: "db" }] }),
      "db/0001_a.sql": "SELECT 1",
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(bundle.migrations).toMatchObject([{ name: "0001_a.sql" }]);
    expect(await responses(bundle, ["/", "/api/sum"])).toMatchObject([
      { status: 200, text: expect.stringContaining("hello 21") },
      { status: 200, text: expect.stringMatching(/"sum":\s*2/) },
    ]);
  });

  test("a SvelteKit app with adapter-auto becomes a script that renders its pages", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest(
        {
          "@sveltejs/adapter-auto": "7.0.1",
          "@sveltejs/kit": "2.70.4",
          "@sveltejs/vite-plugin-svelte": "^6.0.0",
          svelte: "^5.0.0",
          vite: "^7.0.0",
        },
        { build: "vite build" },
      ),
      "svelte.config.js": `import adapter from "@sveltejs/adapter-auto";\nexport default { kit: { adapter: adapter() } };`,
      "vite.config.js": `import { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit()] };`,
      "src/app.html": `<!doctype html><head>%sveltekit.head%</head><body>%sveltekit.body%</body>`,
      "src/routes/+page.server.js": "export const load = () => ({ sum: 20 + 1 });",
      "src/routes/+page.svelte": "<script>let { data } = $props();</script><h1>hello {data.sum}</h1>",
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(await responses(bundle, ["/"])).toMatchObject([{ status: 200, text: expect.stringContaining("hello 21") }]);
  });

  test("a TanStack Start app with Nitro's plugin becomes a script that renders its pages", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest(
        {
          "@tanstack/react-router": "1.170.46",
          "@tanstack/react-start": "1.169.5",
          "@vitejs/plugin-react": "6.3.0",
          nitro: "3.0.260903-beta",
          react: "19.3.1",
          "react-dom": "19.3.1",
          vite: "8.3.8",
        },
        { build: "vite build" },
      ),
      "vite.config.ts": `import { tanstackStart } from "@tanstack/react-start/plugin/vite";\nimport react from "@vitejs/plugin-react";\nimport { nitro } from "nitro/vite";\nexport default { plugins: [tanstackStart(), nitro(), react()] };`,
      "src/router.tsx": `import { createRouter } from "@tanstack/react-router";\nimport { routeTree } from "./routeTree.gen";\nexport const getRouter = () => createRouter({ routeTree });`,
      "src/routes/__root.tsx": `import { createRootRoute, HeadContent, Outlet, Scripts } from "@tanstack/react-router";\nexport const Route = createRootRoute({ component: () => <html><head><HeadContent /></head><body><Outlet /><Scripts /></body></html> });`,
      "src/routes/index.tsx": `import { createFileRoute } from "@tanstack/react-router";\nexport const Route = createFileRoute("/")({ component: () => <h1>hello {String(20 + 1)}</h1> });`,
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(await responses(bundle, ["/"])).toMatchObject([{ status: 200, text: expect.stringMatching(/hello .*21/) }]);
  });

  test("a SolidStart app without a preset becomes a script that renders its pages", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest(
        { "@solidjs/router": "^0.15.0", "@solidjs/start": "^1.2.0", "solid-js": "1.9.19", vinxi: "0.5.11" },
        { build: "vinxi build" },
      ),
      "app.config.ts": `import { defineConfig } from "@solidjs/start/config";\nexport default defineConfig({});`,
      "src/app.tsx": "export default function App() { return <h1>hello {String(20 + 1)}</h1>; }",
      "src/entry-client.tsx": `import { mount, StartClient } from "@solidjs/start/client";\nmount(() => <StartClient />, document.querySelector("#app")!);`,
      "src/entry-server.tsx": `import { createHandler, StartServer } from "@solidjs/start/server";\nexport default createHandler(() => <StartServer document={({ assets, children, scripts }) => <html><head>{assets}</head><body><div id="app">{children}</div>{scripts}</body></html>} />);`,
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    expect(await responses(bundle, ["/"])).toMatchObject([{ status: 200, text: expect.stringMatching(/hello .*21/) }]);
  });

  test("a React Router app with a server for Node.js renders its pages and serves its scripts", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest(
        {
          "@react-router/dev": "8.4.0",
          "@react-router/node": "8.4.0",
          "@react-router/serve": "8.4.0",
          isbot: "^5.0.0",
          react: "19.3.1",
          "react-dom": "19.3.1",
          "react-router": "8.4.0",
          vite: "8.3.8",
        },
        { build: "react-router build", start: "react-router-serve ./build/server/index.js" },
      ),
      "vite.config.ts": `import { reactRouter } from "@react-router/dev/vite";\nexport default { plugins: [reactRouter()] };`,
      "app/routes.ts": `import { index, route } from "@react-router/dev/routes";\nexport default [index("home.tsx"), route("sum", "sum.ts")];`,
      "app/home.tsx": `export const loader = () => ({ sum: 20 + 1 });\nexport default function Home({ loaderData }) { return <h1>hello {loaderData.sum}</h1>; }`,
      "app/sum.ts": `export const loader = ({ request }) => Response.json({ sum: 1 + 1, path: new URL(request.url).pathname });`,
      "app/root.tsx": `import { Outlet, Scripts } from "react-router";\nexport default function Root() { return <html><body><Outlet /><Scripts /></body></html>; }`,
    });
    const { bundle } = await runBundler(createMachineBundler(), checkout);
    const script = (await readdir(`${bundle.assets?.directory}/assets`)).find((name) => name.startsWith("home"));
    expect(await responses(bundle, ["/", "/sum", `/assets/${script}`, "/absent"])).toMatchObject([
      { status: 200, text: expect.stringMatching(/hello .*21/) },
      { status: 200, text: `{"sum":2,"path":"/sum"}` },
      { status: 200, text: expect.stringContaining("hello") },
      { status: 404 },
    ]);
  });

  test.each([
    [
      "an Astro app with server output and without an adapter",
      {
        "package.json": manifest({ astro: "7.3.5" }, { build: "astro build" }),
        "astro.config.mjs": `export default { output: "server" };`,
        "src/pages/index.astro": "<h1>hello</h1>\n",
      },
      "The build of Astro made no app for this platform. It needs the adapter @astrojs/cloudflare.",
    ],
  ])("%s is refused, and the failure says what it needs", async (_case, files, message) => {
    const failure = await bundleFailure(createMachineBundler(), files);
    expect(failure).toMatchObject({ kind: "user", message, advice: expect.stringContaining("two lines") });
  });
});

/** Runs the bundle on the edge platform and requests the paths. */
async function responses({ code, assets }: Bundle, paths: string[]): Promise<AppResponse[]> {
  await using platform = await openTestPlatform();
  await platform.publish("app", "", { code, assets });
  return await Promise.all(paths.map((path) => platform.request("app", path)));
}
