import type { OpenApi } from "./openapi-document.ts";

const MAX_PATH_CHARACTERS = 1000;

/** The path prefix of the first server. Its host is ignored: requests always go to the app itself. */
export function getBasePath({ servers }: OpenApi): string {
  const url = servers?.[0]?.url ?? "/";
  // A server variable can have any value.
  if (url.includes("{")) return "";
  const { pathname } = URL.parse(url, "http://app.localhost") ?? { pathname: "/" };
  return pathname.replace(/(?<!\/)\/+$/, "");
}

/**
 * Whether a path stays within the app for every URL parser: two slashes at its start name another host, and a segment
 * of dots leads to a parent folder.
 */
export function isSafePath(path: string): boolean {
  if (path.length > MAX_PATH_CHARACTERS || path.startsWith("//")) return false;
  if (!/^\/([A-Za-z0-9._~!$&'()*+,;=:@%{}/-]*)$/.test(path)) return false;
  return path.split("/").every((segment) => !/^(\.|%2e){1,2}$/i.test(segment));
}
