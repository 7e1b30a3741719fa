export interface PlanLimits {
  /** How many apps an organization may have. Failed apps do not count. */
  apps: number;
  /** How many Node servers of an organization are not stopped when they are idle. They are those that were created first. */
  alwaysOnApps: number;
  /** How many attempts to deploy the organization has in `windowSeconds`. */
  deploys: { limit: number; windowSeconds: number };
  /** How many bytes each app may store. */
  storageBytes: number;
  /** How many documents Company Knowledge and all projects may have together. */
  documents: number;
  /** How many servers with an OpenClaw gateway the organization may have. */
  gateways: number;
  /** How many answers a language model writes for the organization in `windowSeconds`. Further ones consist of sentences of documents. */
  modelCalls: { limit: number; windowSeconds: number };
  /** How many tokens the app builder agent may use for the organization in a calendar month, input and output together. */
  builderTokens: number;
  /** How many bytes the texts of these documents may have in UTF-8, with those of all kept versions. */
  documentBytes: number;
}

/** What a plan allows that does not say otherwise. */
export const DEFAULT_LIMITS = {
  alwaysOnApps: 0,
  deploys: { limit: 5, windowSeconds: 300 },
  storageBytes: 1024 ** 3,
  gateways: 20,
  modelCalls: { limit: 1000, windowSeconds: 86_400 },
  builderTokens: 10_000_000,
  documents: 10_000,
  documentBytes: 1024 ** 3,
} as const satisfies Partial<PlanLimits>;

/** The configured plans. An organization whose plan no longer exists gets the limits of the default plan. */
export class Plans {
  readonly #plans: Readonly<Record<string, PlanLimits>>;
  readonly defaultPlan: string;

  constructor(plans: Readonly<Record<string, PlanLimits>>, defaultPlan: string) {
    this.#plans = plans;
    this.defaultPlan = defaultPlan;
  }

  /** The name of the plan that applies to an organization with this plan on record. */
  resolveName(plan: string | null | undefined): string {
    return plan != null && Object.hasOwn(this.#plans, plan) ? plan : this.defaultPlan;
  }

  /** The smallest bound of all plans. An app within it is within the bound of its plan. */
  get smallestStorageBytes(): number {
    return Math.min(...Object.values(this.#plans).map(({ storageBytes }) => storageBytes));
  }

  /** Whether any plan has apps that are always on. */
  get hasAlwaysOnApps(): boolean {
    return Object.values(this.#plans).some(({ alwaysOnApps }) => alwaysOnApps > 0);
  }

  getLimits(plan: string | null | undefined): PlanLimits {
    const limits = this.#plans[this.resolveName(plan)];
    if (limits === undefined) throw new RangeError(`unknown default plan: ${this.defaultPlan}`);
    return limits;
  }
}
