import { measureActiveApps } from "./memory/active-apps.ts";
import { measureInactiveApps } from "./memory/inactive-apps.ts";
import type { Section } from "./support/bench-section.ts";

export const memory: Section = {
  name: "memory",
  title: "Memory",
  method: `Proportional set sizes on the embedded defaults. *Active:* 10 apps from \`examples/hello\`, deployed over REST and each asked once by a service that was started anew: the processes of the apps with their sandboxes, and what the service itself grew by from the third app to the tenth. *Inactive:* a service that was started with 1,000 registered apps, of which none was asked for yet, against one with none, each in turn and after a garbage collection.`,
  async measure(bench) {
    const active = await measureActiveApps(bench);
    return { figures: [active, ...(await measureInactiveApps(bench))], notes: [] };
  },
};
