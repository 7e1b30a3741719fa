/** Why an app with a server cannot be deployed, and what to add. At most 300 characters each. */
export interface Explanation {
  message: string;
  advice: string;
}

interface ServerFramework {
  name: string;
  /** What the framework needs to build a server for the platform. */
  needs: string;
  advice: string;
}

const NITRO_PLUGIN = {
  needs: "the Vite plugin of Nitro",
  advice: `Install nitro (for Vite 8, a version after 3.0.0). Then add two lines to vite.config.ts: import { nitro } from "nitro/vite"; and in plugins: nitro()`,
};

/** By the id of the framework detection. Frameworks that choose the platform's adapter by themselves are here too. */
const SERVER_FRAMEWORKS: Readonly<Record<string, ServerFramework>> = {
  astro: {
    name: "Astro",
    needs: "the adapter @astrojs/cloudflare",
    advice: `Run: npx astro add cloudflare. Or install @astrojs/cloudflare and add two lines to astro.config.mjs: import cloudflare from "@astrojs/cloudflare"; and in defineConfig: adapter: cloudflare()`,
  },
  "react-router": {
    name: "React Router",
    needs: "Cloudflare's Vite plugin, or ssr: false",
    advice: `Add @cloudflare/vite-plugin, wrangler.jsonc and two lines in vite.config.ts: import { cloudflare } from "@cloudflare/vite-plugin"; and in plugins: cloudflare({ viteEnvironment: { name: "ssr" } }). Without a server: set ssr: false in react-router.config.ts.`,
  },
  next: {
    name: "Next.js",
    needs: "@opennextjs/cloudflare, or a static export",
    advice: `For a static export, set output: "export" in next.config. For a server, run: npx @opennextjs/cloudflare migrate. Commit the files that it writes, and deploy again.`,
  },
  "svelte-kit": {
    name: "SvelteKit",
    needs: "the adapter @sveltejs/adapter-cloudflare",
    advice: `Run: npm install --save-dev @sveltejs/adapter-cloudflare. Then set two lines in svelte.config.js: import adapter from "@sveltejs/adapter-cloudflare"; and in kit: adapter: adapter()`,
  },
  nuxt: {
    name: "Nuxt",
    needs: "the preset cloudflare_module",
    advice: `Remove the preset from nuxt.config.ts, or set two lines: nitro: { preset: "cloudflare_module" } and compatibilityDate: "2026-06-01"`,
  },
  qwik: {
    name: "Qwik City",
    needs: "an adapter",
    advice:
      "For a server, run: npm run qwik add cloudflare-pages. For a static site, run: npm run qwik add static. Commit the files that it writes, and deploy again.",
  },
  "tanstack-start": { name: "TanStack Start", ...NITRO_PLUGIN },
  "solid-start": { name: "SolidStart", ...NITRO_PLUGIN },
};

/** Explains why the build of a framework with a server has no pages to deploy; `null` for other frameworks. */
export function explainServerBuild(framework: string | null): Explanation | null {
  const found = framework !== null && Object.hasOwn(SERVER_FRAMEWORKS, framework) ? SERVER_FRAMEWORKS[framework] : null;
  if (!found) return null;
  return {
    message: `The build of ${found.name} made no app for this platform. It needs ${found.needs}.`,
    advice: found.advice,
  };
}
