/** What a request to the mirror asks for. */
export type Target =
  | { kind: "package"; name: string }
  | { kind: "tarball"; name: string; version: string }
  /** Another host, asked for as if the mirror were an open proxy. */
  | { kind: "elsewhere"; host: string }
  | { kind: "unknown" };

const NAME = "(?:@[\\w~.-]+/)?[\\w~][\\w~.-]*";
const PACKAGE = new RegExp(`^/(${NAME})$`);

/** The name may follow the path of another registry, whose host a client has replaced with ours. */
const TARBALL = new RegExp(`^/(?:.*?/)??(${NAME})/-/(?:@[^/]+/)?([^/]+)\\.tgz$`);

/**
 * @param url - as it stands in the request: a path, or a whole URL when the client takes us for its proxy
 * @param ownHost - the host by which clients know the mirror
 */
export function parseTarget(url: string, ownHost: string): Target {
  const absolute = url.startsWith("/") ? null : URL.parse(url);
  if (absolute && absolute.host !== ownHost) return { kind: "elsewhere", host: absolute.host };
  const path = decoded(absolute?.pathname ?? url.replace(/[?#].*$/, ""));
  const name = PACKAGE.exec(path)?.[1];
  if (name !== undefined) return { kind: "package", name };
  return parseTarball(path);
}

function parseTarball(path: string): Target {
  const [name, file] = TARBALL.exec(path)?.slice(1) ?? [];
  const stem = `${name?.replace(/^@.*\//, "")}-`;
  if (name === undefined || !file?.startsWith(stem)) return { kind: "unknown" };
  return { kind: "tarball", name, version: file.slice(stem.length) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
