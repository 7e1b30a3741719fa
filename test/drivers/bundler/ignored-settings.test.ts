import { expect, test } from "vitest";
import { describeIgnoredSettings } from "../../../server/drivers/bundler/inside/describe-ignored-settings.ts";
import { createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createRegistryBundler } from "../../support/builds/publish-project.ts";

const ALL = {
  "triggers.crons": { triggers: { crons: ["0 * * * *"] } },
  "triggers.events": { triggers: { events: [{}] } },
  "queues.consumers": { queues: { consumers: [{ queue: "jobs" }] } },
  tail_consumers: { tail_consumers: [{ service: "logs" }] },
  streaming_tail_consumers: { streaming_tail_consumers: [{ service: "logs" }] },
  addresses: { addresses: ["support@example.com"] },
  connect: { connect: [{ port: 25 }] },
  logpush: { logpush: true },
  access: { access: { enabled: true } },
};

test.each(Object.entries(ALL))("the setting %s is ignored with a warning that names it", (name, settings) => {
  expect(describeIgnoredSettings(settings)).toEqual([
    expect.stringMatching(
      /^The platform does not have .+ \(.+\)\. It ignores this part of the wrangler configuration\.$/,
    ),
  ]);
  expect(describeIgnoredSettings(settings)[0]).toContain(`(${name})`);
});

test("the defaults that wrangler adds to a configuration are not a warning", async () => {
  await using setup = await createRegistryBundler([]);
  await using checkout = await createCheckout({
    "wrangler.toml": `main = "index.js"\ncompatibility_date = "2026-06-01"\nlogpush = false\n[triggers]\ncrons = []`,
    "index.js": "export default { fetch: () => new Response() };",
  });
  expect((await runBundler(setup.bundler, checkout)).bundle.warnings).toEqual([]);
});

test("the settings that a Pages project has in production are checked", async () => {
  await using setup = await createRegistryBundler([]);
  await using checkout = await createCheckout({
    "wrangler.toml": `name = "app"\npages_build_output_dir = "public"\n[env.production.triggers]\ncrons = ["0 * * * *"]`,
    "public/index.html": "page",
  });
  expect((await runBundler(setup.bundler, checkout)).bundle.warnings).toEqual([
    expect.stringContaining("Cron Triggers (triggers.crons)"),
  ]);
});
