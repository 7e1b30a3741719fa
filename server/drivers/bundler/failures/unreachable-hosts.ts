/** Errors of name resolution: of Node.js, and of curl. */
const UNRESOLVED = /(?:\b(?:ENOTFOUND|EAI_AGAIN)|Could not resolve host:) ([a-z\d.-]+\.[a-z]{2,})/gi;

/** Errors that name the URL of a request. */
const REQUEST = /(fetch|request|download|connect)/i;
const FAILURE = /(fail|error|issue|unable|could not|cannot|offline)/i;
const DOCUMENTATION = /read more|\bsee\b|\bdocs?\b/i;
const HOST = /https?:\/\/([a-z\d.-]+\.[a-z]{2,})/gi;

const MAX_HOSTS = 10;

/** The hosts that a step without a network tried to reach, as its output names them. */
export function findUnreachableHosts(lines: readonly string[]): string[] {
  const hosts = new Set<string>();
  for (const line of lines) {
    for (const [, host = ""] of line.matchAll(UNRESOLVED)) hosts.add(host.toLowerCase());
    if (/from Google Fonts/.test(line)) hosts.add("fonts.googleapis.com");
    if (!REQUEST.test(line) || !FAILURE.test(line) || DOCUMENTATION.test(line)) continue;
    for (const [, host = ""] of line.matchAll(HOST)) hosts.add(host.toLowerCase());
  }
  return [...hosts].slice(0, MAX_HOSTS);
}

/** Whether a cause is about a connection, so that the hosts that could not be reached explain it. */
export function isAboutNetwork(cause: string): boolean {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|resolve host|Google Fonts|fetch|network|request|connect|offline|prerender/i.test(
    cause,
  );
}
