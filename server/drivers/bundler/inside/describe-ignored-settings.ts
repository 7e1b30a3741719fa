/** The parts of a wrangler configuration that the platform ignores. They declare no binding, so the app starts without them. */
export interface IgnoredSettings {
  triggers?: { crons?: unknown[] | undefined; events?: unknown[] };
  queues?: { consumers?: unknown[] };
  tail_consumers?: unknown[];
  streaming_tail_consumers?: unknown[];
  addresses?: unknown[];
  connect?: unknown[];
  logpush?: boolean | undefined;
  access?: object | undefined;
}

const PRODUCTS: readonly (readonly [name: string, product: string, read: (settings: IgnoredSettings) => unknown])[] = [
  ["triggers.crons", "Cron Triggers", ({ triggers }) => triggers?.crons],
  ["triggers.events", "event subscriptions", ({ triggers }) => triggers?.events],
  ["queues.consumers", "Queues", ({ queues }) => queues?.consumers],
  ["tail_consumers", "Tail Workers", (settings) => settings.tail_consumers],
  ["streaming_tail_consumers", "streaming Tail Workers", (settings) => settings.streaming_tail_consumers],
  ["addresses", "Email", (settings) => settings.addresses],
  ["connect", "listening sockets", (settings) => settings.connect],
  ["logpush", "Logpush", (settings) => settings.logpush],
  ["access", "Access", (settings) => settings.access],
];

/** Warns of the products that a configuration uses, and the platform does not have. */
export function describeIgnoredSettings(settings: IgnoredSettings): string[] {
  const used = PRODUCTS.filter(([, , read]) => isSet(read(settings)));
  if (used.length === 0) return [];
  const named = used.map(([name, product]) => `${product} (${name})`);
  const what = used.length === 1 ? "this part" : "these parts";
  return [`The platform does not have ${named.join(", ")}. It ignores ${what} of the wrangler configuration.`];
}

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === "object" ? value !== null && Object.keys(value).length > 0 : value === true;
}
