import path from "node:path";
import { HostileEndpoints } from "./fairness/hostile-endpoints.ts";
import { hostileActs } from "./fairness/hostile-acts.ts";
import { ActMeasurement, formatObservation } from "./fairness/measure-act.ts";
import type { Metric, Section } from "./support/bench-section.ts";
import { startService } from "./support/start-servers.ts";

export const fairness: Section = {
  name: "fairness",
  title: "One organization beside others",
  method:
    "What one organization sees of the service, with its embedded database, while another one does what the row says: the longest wait of `GET /healthz` (one request every 10 ms), the response times of `GET /v1/apps` with 20 apps, and responses other than 200. The observer is a process of its own. The first row has the same values without the other organization.",
  async measure({ folder, signal, log }) {
    await using endpoints = await HostileEndpoints.open();
    const { settings } = endpoints;
    await using service = await startService({ dataDirectory: path.join(folder, "data"), settings }, signal);
    await using measurement = await ActMeasurement.open(service, signal);
    const quiet = formatObservation(await measurement.measureQuiet());
    log(`nothing: ${quiet}`);
    const metrics: Metric[] = [{ name: "nothing", result: quiet, target: null, details: "" }];
    for (const act of hostileActs) {
      const { seen, bound, isFair, seconds, growthMb } = await measurement.measure(act, endpoints);
      const result = formatObservation(seen);
      const details = `${seconds.toFixed(1)} s, ${growthMb.toFixed(0)} MB more memory`;
      log(`${act.name}: ${result}; ${details}`);
      metrics.push({ name: act.name, result, target: { bound, met: isFair }, details });
    }
    return { metrics, notes: [] };
  },
};
