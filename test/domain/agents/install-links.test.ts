import { expect, test } from "vitest";
import { installLinks } from "../../../domain/agents/install-links.ts";

const GATEWAY = "https://service.example/mcp?a=1&b=2";

test("the link of Cursor contains the name and the URL of the gateway", () => {
  const link = new URL(installLinks(GATEWAY, "my service & more").cursor);
  expect(link.href.startsWith("cursor://anysphere.cursor-deeplink/mcp/install?")).toBe(true);
  expect([...link.searchParams.keys()]).toEqual(["name", "config"]);
  expect(link.searchParams.get("name")).toBe("my service & more");
  expect(JSON.parse(atob(link.searchParams.get("config")!))).toEqual({ url: GATEWAY });
});

test("the link of VS Code contains an entry of its configuration", () => {
  const [start, entry] = installLinks(GATEWAY).vscode.split("?");
  expect(start).toBe("vscode:mcp/install");
  expect(JSON.parse(decodeURIComponent(entry!))).toEqual({ name: "service", type: "http", url: GATEWAY });
});
