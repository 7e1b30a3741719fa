/** The place where tRPC 11 creates a router, in a bundle with or without short names. */
const CREATED = /\bcreateCaller:\s*([\w$]+\(\))\(\{\s*(_def(?:\s*:\s*[\w$]+)?)\s*\}\)/g;

/** Edits tRPC in a module of an app, so that `inside/created-routers.mjs` gets every router that the app creates. */
export function editTrpc(source: string): string {
  return source.replaceAll(CREATED, "createCaller: $1(globalThis.__serviceRouterCreated({ $2 }))");
}
