import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The service, to which `vite dev` forwards requests. The service itself serves the built dashboard. */
const SERVICE = "http://127.0.0.1:3000";

export default defineConfig({
  root: HERE,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: fileURLToPath(new URL("../../.cache/dashboard", import.meta.url)),
    emptyOutDir: true,
    // The Content-Security-Policy does not allow `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(["/api", "/trpc", "/v1", "/mcp"].map((path) => [path, SERVICE])) },
});
