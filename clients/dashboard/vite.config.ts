import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The service, for `vite dev`; a built dashboard is served by it. */
const SERVICE = "http://127.0.0.1:3000";

export default defineConfig({
  root: HERE,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: fileURLToPath(new URL("../../.cache/dashboard", import.meta.url)),
    emptyOutDir: true,
    // Data in a URL would need an exception of the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(["/api", "/trpc", "/v1", "/mcp"].map((path) => [path, SERVICE])) },
});
