import { HostileEndpoints } from "../../bench/fairness/hostile-endpoints.ts";
import { hostileActs } from "../../bench/fairness/hostile-acts.ts";
import { ActMeasurement, formatObservation } from "../../bench/fairness/measure-act.ts";
import { startService } from "../../bench/support/start-servers.ts";
import type { Attack } from "./attack.ts";

/** What one organization does through the APIs, so that others wait. Another organization observes the service meanwhile. */
export const AVAILABILITY_ATTACKS: readonly Attack[] = hostileActs.map((act) => ({
  name: act.name,
  through: "API",
  run: async ({ folder }) => {
    const { signal } = new AbortController();
    await using endpoints = await HostileEndpoints.open();
    await using service = await startService({ dataDirectory: folder, settings: endpoints.settings }, signal);
    await using measurement = await ActMeasurement.open(service, signal);
    await measurement.measureQuiet();
    const { seen, isFair } = await measurement.measure(act, endpoints);
    return { isContained: isFair, text: `another organization: ${formatObservation(seen)}` };
  },
}));
