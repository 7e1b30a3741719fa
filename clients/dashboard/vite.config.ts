import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The service, to which `vite dev` forwards requests. The service itself serves the built dashboard. */
const SERVICE = "http://127.0.0.1:3000";

const OUTPUT = fileURLToPath(new URL("../../.cache/dashboard", import.meta.url));
/** Fonts and images are compressed already. */
const COMPRESSIBLE = /[.](js|css|svg)$/;

/** Stores each file also as brotli and gzip, so that the service compresses nothing at run time. */
function compressAssets(): Plugin {
  return {
    name: "compress-assets",
    apply: "build",
    async writeBundle() {
      const folder = path.join(OUTPUT, "assets");
      const files = (await readdir(folder)).filter((file) => COMPRESSIBLE.test(file));
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
      for (const file of files) {
        const content = await readFile(path.join(folder, file));
        await writeFile(path.join(folder, `${file}.br`), await promisify(brotliCompress)(content, { params }));
        await writeFile(path.join(folder, `${file}.gz`), await promisify(gzip)(content, { level: 9 }));
      }
    },
  };
}

/** Fails the build when every page would load the editor, which is larger than all the rest. */
function keepEditorApart(): Plugin {
  return {
    name: "keep-editor-apart",
    apply: "build",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((each) => each.type === "chunk");
      const first = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
      // The set grows during the loop.
      for (const name of first)
        for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) first.add(imported);
      for (const { fileName, moduleIds } of chunks.filter((chunk) => first.has(chunk.fileName))) {
        const editor = moduleIds.find((id) => /node_modules[\\/]@(?:codemirror|lezer)[\\/]/.test(id));
        if (editor !== undefined)
          this.error(
            `Every page would load ${editor} in ${fileName}. Leave the file that imports it out of FIRST_PAGE.`,
          );
      }
    },
  };
}

/** What the first page needs of the dashboard's own files: all but pages and what they load when it is needed. */
const FIRST_PAGE =
  /dashboard[\\/]src[\\/](?!pages|live|event-|copy|use-followed|main|ui[\\/](log|markdown|editor|text-diff|bar-|code-|command|use-|toggle-|menu|user-menu|organization-menu|toasts|ansi|meter|drop|connected|secret|described|safe|version-))/;

export default defineConfig({
  root: HERE,
  plugins: [react(), tailwindcss(), keepEditorApart(), compressAssets()],
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    // The Content-Security-Policy does not allow `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Few requests for the first page: what every page needs is in two files.
        codeSplitting: {
          groups: [
            {
              name: "vendor",
              test: /node_modules[\\/](react|react-dom|scheduler|@tanstack[\\/](?!.*virtual)|@trpc)[\\/]?/,
            },
            // A browser has six connections to a host, so many small files are slow on a slow network.
            { name: "shared", test: FIRST_PAGE },
          ],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(["/api", "/trpc", "/v1", "/mcp"].map((path) => [path, SERVICE])) },
});
