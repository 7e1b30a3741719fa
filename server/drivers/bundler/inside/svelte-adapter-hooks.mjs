const FOREIGN = /^@sveltejs\/adapter-(vercel|netlify)$/;

/** Resolves the adapter of SvelteKit for another host to the Cloudflare adapter. */
export function resolve(specifier, context, nextResolve) {
  return nextResolve(FOREIGN.test(specifier) ? "@sveltejs/adapter-cloudflare" : specifier, context);
}
