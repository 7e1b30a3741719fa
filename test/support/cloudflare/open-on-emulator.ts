import { MemoryCounter } from "../../../server/drivers/counter/memory-counter.ts";
import type { Installation } from "../../../server/installation/installation.ts";
import type { ClientLimits } from "../../../server/platforms/cloudflare/cloudflare-client.ts";
import {
  type CloudflarePlatform,
  type CloudflarePlatformOptions,
  openCloudflarePlatform,
} from "../../../server/platforms/cloudflare/open-cloudflare-platform.ts";
import { appRequest, type AppResponse } from "../edge/app-request.ts";
import { TestVariables } from "../edge/test-variables.ts";
import { CloudflareEmulator } from "./emulator.ts";

export interface PlatformOnEmulator extends AsyncDisposable {
  emulator: CloudflareEmulator;
  platform: CloudflarePlatform;
  variables: TestVariables;
  /** Opens the platform again, as another process does: by default one of the same installation. */
  reopen(options?: Partial<CloudflarePlatformOptions>): Promise<CloudflarePlatform>;
  request(slug: string, target?: string, options?: Parameters<typeof appRequest>[1]): Promise<AppResponse>;
}

const INSTALLATION: Installation = { id: "installation-1", epoch: 1, state: "active" };
const LIMITS = { backOffMs: 1, requests: 100_000 };

/** The Cloudflare platform on the emulator of its account. */
export async function openOnEmulator(
  limits: Partial<ClientLimits> = {},
  emulatorOptions: { runsScripts?: boolean } = {},
): Promise<PlatformOnEmulator> {
  await using opening = new AsyncDisposableStack();
  const emulator = opening.use(await CloudflareEmulator.open(emulatorOptions));
  const opened = opening.use(new DisposableStack());
  const variables = new TestVariables();
  const reopen = async (options: Partial<CloudflarePlatformOptions> = {}) =>
    opened.use(
      await openCloudflarePlatform({
        ...emulator.settings,
        address: { scheme: "http", domain: emulator.appsDomain },
        tokenSecret: "secret of the test",
        variables,
        counter: new MemoryCounter(),
        log: { info: () => {}, warn: () => {} },
        installation: INSTALLATION,
        onTakenOver: () => {},
        limits: { ...LIMITS, ...limits },
        ...options,
      }),
    );
  const platform = await reopen();
  const stack = opening.move();
  return {
    emulator,
    platform,
    variables,
    reopen,
    request: (slug, target = "/", options = {}) => appRequest(platform.scripts.urlOf(slug) + target, options),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
