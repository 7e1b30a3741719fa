/** A host name in the form in which names of the same git host are equal: `WWW.GitHub.com.` is `github.com`. */
export function toPlainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^www\./, "")
    .replace(/\.$/, "");
}
