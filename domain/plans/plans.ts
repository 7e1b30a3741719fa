export interface PlanLimits {
  /** How many apps an organization may have, failed ones not counted. */
  apps: number;
}

/** The plans there are. An organization whose plan no longer exists is held to the default one. */
export class Plans {
  readonly #plans: Readonly<Record<string, PlanLimits>>;
  readonly defaultPlan: string;

  constructor(plans: Readonly<Record<string, PlanLimits>>, defaultPlan: string) {
    this.#plans = plans;
    this.defaultPlan = defaultPlan;
  }

  limitsOf(name: string): PlanLimits {
    const limits = Object.hasOwn(this.#plans, name) ? this.#plans[name] : this.#plans[this.defaultPlan];
    if (limits === undefined) throw new RangeError(`no plan is called ${this.defaultPlan}`);
    return limits;
  }
}
