import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";

test("Cloudflare as the edge platform requires an account, a token, a namespace and a domain, and they require it", () => {
  const CLOUDFLARE = {
    CLOUDFLARE_ACCOUNT_ID: "0123456789abcdef0123456789abcdef",
    CLOUDFLARE_API_TOKEN: "token",
    CLOUDFLARE_DISPATCH_NAMESPACE: "apps",
  };
  const settings = { EDGE_PLATFORM: "cloudflare", APPS_DOMAIN: "apps.example.com", ...CLOUDFLARE };
  expect(readConfig(settings).cloudflare).toEqual({
    apiUrl: "https://api.cloudflare.com/client/v4",
    accountId: "0123456789abcdef0123456789abcdef",
    apiToken: "token",
    namespace: "apps",
  });
  expect(readConfig({}).cloudflare).toBeNull();
  const missing = "CLOUDFLARE_API_TOKEN, APPS_DOMAIN must be set too, because EDGE_PLATFORM is cloudflare";
  expect(() => readConfig({ ...settings, CLOUDFLARE_API_TOKEN: "", APPS_DOMAIN: "" })).toThrow(missing);
  expect(() => readConfig(CLOUDFLARE)).toThrow(
    "EDGE_PLATFORM must be cloudflare, because CLOUDFLARE_ACCOUNT_ID is set",
  );
});
