/** Tells programs of their proxy in both spellings: curl reads the lower case, npm and others the upper case. */
export function proxyVariables(url: string): Record<string, string> {
  return { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url };
}
