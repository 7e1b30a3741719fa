/**
 * Hosts of telemetry, of error reports, of checks for new versions, and of data with a default. Tools go on when these cannot be
 * reached, so a build that requests them is not ended. Their subdomains count too.
 */
const TOLERATED = [
  "telemetry.nextjs.org",
  "telemetry.vercel.com",
  "vercel-insights.com",
  "telemetry.astro.build",
  "telemetry.nuxt.com",
  "telemetry.nuxtjs.com",
  "telemetry.storybook.js.org",
  "telemetry.redwoodjs.com",
  "telemetry.shopify.com",
  "analytics.gatsbyjs.com",
  "sparrow.cloudflare.com",
  "checkpoint.prisma.io",
  // Local bindings of wrangler, which Vite plugins also start in builds, fetch sample properties of a request from it.
  "workers.cloudflare.com",
  "api.nx.app",
  "cloud.nx.app",
  "sentry.io",
  "bugsnag.com",
  "rollbar.com",
  "datadoghq.com",
  "posthog.com",
  "segment.io",
  "segment.com",
  "amplitude.com",
  "mixpanel.com",
  "google-analytics.com",
  "googletagmanager.com",
  "registry.npmjs.org",
  "registry.yarnpkg.com",
  // Nuxt asks all of them for each font, and uses the first that has it.
  "fonts.google.com",
  "fonts.bunny.net",
  "api.fontshare.com",
  "api.fontsource.org",
];

const LOCAL = /^(localhost|.*\.localhost|127\..*|0\.0\.0\.0|::1?)$/;

/** Whether a build may go on after a request to a host was refused. */
export function isTolerated(host: string): boolean {
  return LOCAL.test(host) || TOLERATED.some((each) => host === each || host.endsWith(`.${each}`));
}
