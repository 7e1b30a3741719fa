// Loaded before the build script of a SvelteKit project, in every Node.js process. The configuration of the project gets the
// Cloudflare adapter when it imports the adapter for another host. Their options have different names, and are ignored.
import module from "node:module";
import { resolve } from "./svelte-adapter-hooks.mjs";

// Node.js before 22.15 runs the function in a thread of its own.
if (module.registerHooks !== undefined) module.registerHooks({ resolve });
else module.register("./svelte-adapter-hooks.mjs", import.meta.url);
