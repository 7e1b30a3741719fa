import { measureActiveApps } from "./memory/active-apps.ts";
import { measureInactiveApps } from "./memory/inactive-apps.ts";
import type { Section } from "./support/bench-section.ts";

export const memory: Section = {
  name: "memory",
  title: "Memory",
  method: `Proportional set sizes (PSS) with the embedded defaults. *Active apps:* 10 apps from \`examples/hello\` are deployed over REST. The service is restarted, and each app gets one request. The result is the memory of the apps' processes with their sandboxes, plus the growth of the service from the third app to the tenth. *Inactive apps:* a service with 1,000 registered apps, none of which has been requested, is compared with a service without apps. Each is measured in turn, after a garbage collection.`,
  async measure(context) {
    return { metrics: [await measureActiveApps(context), ...(await measureInactiveApps(context))], notes: [] };
  },
};
