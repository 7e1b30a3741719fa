/** The prefix of every line of the service in a log of an app. A line of the app never starts with it. */
export const SERVICE_PREFIX = "[service]";

/**
 * A line of the app that starts with the service's prefix, even after invisible characters. The repetition is bounded,
 * because the pattern also treats some of these characters as line breaks.
 */
const FORGED_PREFIX = /^[\t\p{Z}\p{DI}]{0,64}\[service\]/gmu;

/** Marks the lines of an app's output that look like lines of the service. */
export function markForgedLines(output: string): string {
  return output.replace(FORGED_PREFIX, `> ${SERVICE_PREFIX}`);
}
