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

  /** The plan that an organization really has. */
  nameOf(plan: string | null | undefined): string {
    return plan != null && Object.hasOwn(this.#plans, plan) ? plan : this.defaultPlan;
  }

  limitsOf(plan: string | null | undefined): PlanLimits {
    const limits = this.#plans[this.nameOf(plan)];
    if (limits === undefined) throw new RangeError(`no plan is called ${this.defaultPlan}`);
    return limits;
  }
}
