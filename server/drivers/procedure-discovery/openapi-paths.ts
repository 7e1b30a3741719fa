import type { OpenApi } from "./openapi-document.ts";

/** The path below which the document's own paths lie. The host of a server is not looked at: it is always the app. */
export function basePath({ servers }: OpenApi): string {
  const url = servers?.[0]?.url ?? "/";
  // A variable in the address could stand for anything.
  if (url.includes("{")) return "";
  const { pathname } = URL.parse(url, "http://app.localhost") ?? { pathname: "/" };
  return pathname.replace(/\/+$/, "");
}

/**
 * Whether a path leads to the app and nowhere else, whoever resolves it: two slashes at its start would name a host,
 * and dots could climb.
 */
export function isPlainPath(path: string): boolean {
  if (path.length > 1000 || !/^\/([A-Za-z0-9._~!$&'()*+,;=:@%{}/-]*)$/.test(path) || path.startsWith("//"))
    return false;
  return path.split("/").every((segment) => !/^(\.|%2e){1,2}$/i.test(segment));
}
