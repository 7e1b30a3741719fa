// Loaded before the build script of a SvelteKit project, in every Node.js process. The configuration of the project gets the
// Cloudflare adapter when it imports the adapter for another host. Their options have different names, and are ignored.
import module from "node:module";

const FOREIGN = /^@sveltejs\/adapter-(vercel|netlify)$/;

// Node.js before 22.15 does not have the function. The build then uses the adapter of the project.
module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    return nextResolve(FOREIGN.test(specifier) ? "@sveltejs/adapter-cloudflare" : specifier, context);
  },
});
