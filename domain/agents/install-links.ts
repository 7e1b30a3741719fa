/** Links that add the tool gateway to a client, which asks the user before. */
export interface InstallLinks {
  cursor: string;
  vscode: string;
}

/**
 * Returns links to the programs themselves, not to the web sites of their vendors, which would learn the URL. The client
 * signs in on its own, so a link contains no token.
 *
 * @param url - of the gateway
 * @param name - of the entry in the configuration of the client
 */
export function installLinks(url: string, name = "service"): InstallLinks {
  const config = encodeURIComponent(btoa(JSON.stringify({ url })));
  const entry = encodeURIComponent(JSON.stringify({ name, type: "http", url }));
  return {
    cursor: `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}&config=${config}`,
    vscode: `vscode:mcp/install?${entry}`,
  };
}
