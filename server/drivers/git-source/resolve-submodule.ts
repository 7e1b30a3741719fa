import { toPlainHost } from "../../../domain/shared/plain-host.ts";

const MAX_LENGTH = 2048;
/** Visible ASCII characters. Control characters would be removed by the parser of URLs. */
const PLAIN = /^(?!-)[\x21-\x7e]+$/;
const PART = /^(?!\.{1,2}$)[\w.][\w.-]*$/;
const WITH_SCHEME = /^(https?|git|ssh|git\+ssh):\/\//i;
/** `git@github.com:acme/site.git`. */
const SCP_FORM = /^(?:[^\s/:@]+@)?([^\s/:@]+):(?!\/\/)(.+)$/;

/**
 * Finds the repository of the git host that the URL of a submodule names.
 *
 * @param base - the URL below which the git host has its repositories
 * @param parent - the repository with the submodule, as owner/name. Relative URLs start there.
 * @returns owner/name; `null` for a URL of another host or of another form
 */
export function resolveSubmodule(url: string, base: URL, parent: string): string | null {
  if (url.length > MAX_LENGTH || !PLAIN.test(url)) return null;
  const parts = /^\.\.?\//.test(url) ? resolveRelative(url, parent) : resolveAbsolute(url, base);
  const [owner = "", name = "", ...more] = parts ?? [];
  const plainName = name.replace(/(?<=.)\.git$/i, "");
  return PART.test(owner) && PART.test(plainName) && more.length === 0 ? `${owner}/${plainName}` : null;
}

function resolveRelative(url: string, parent: string): string[] | null {
  const parts = parent.split("/");
  for (const part of url.split("/")) {
    if (part !== "..") parts.push(...(part === "" || part === "." ? [] : [part]));
    else if (parts.pop() === undefined) return null;
  }
  return parts;
}

/** Addresses of SSH name a repository of the web: all repositories are fetched from the base URL. */
function resolveAbsolute(url: string, base: URL): string[] | null {
  if (base.protocol === "file:") return null;
  if (!WITH_SCHEME.test(url)) {
    const [, hostname = "", path = ""] = SCP_FORM.exec(url) ?? [];
    return isSameHost(hostname, base) ? withoutPrefix(path, base, false) : null;
  }
  const parsed = URL.parse(url);
  if (parsed === null || !isSameHost(parsed.hostname, base)) return null;
  const isWeb = /^https?:$/.test(parsed.protocol);
  if (isWeb && parsed.port !== base.port) return null;
  return parsed.search === "" && parsed.hash === "" ? withoutPrefix(parsed.pathname, base, isWeb) : null;
}

/** With SSH, the path of a repository often lacks the prefix that it has on the web. */
function withoutPrefix(path: string, { pathname }: URL, isRequired: boolean): string[] | null {
  const parts = splitPath(path);
  const prefix = splitPath(pathname);
  const hasPrefix = prefix.every((part, at) => parts[at] === part);
  if (!hasPrefix && isRequired) return null;
  return hasPrefix ? parts.slice(prefix.length) : parts;
}

function splitPath(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function isSameHost(hostname: string, base: URL): boolean {
  return toPlainHost(hostname) === toPlainHost(base.hostname);
}
