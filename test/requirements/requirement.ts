/** One clause of the interface specification, reworded, or of what the service offers beyond it. */
export interface Requirement extends Offers {
  /** The section of the specification, or `beyond`. */
  section: string;
  clause: string;
  /** `covered`: a test cites it, which `requirements-coverage.test.ts` enforces. `planned`: not implemented, so no test may cite it. */
  state: "covered" | "planned";
}

/** What the tests that cite a clause use. A clause `tool.<name>` is about the tool of this name. */
export interface Offers {
  /** Dotted paths of procedures, whose REST operations are covered with them. */
  procedures?: readonly string[];
  /** Commands of the command line, without those that are derived from procedures. */
  commands?: readonly string[];
}

export function covered(section: string, clause: string, offers: Offers = {}): Requirement {
  return { section, clause, state: "covered", ...offers };
}

export function planned(section: string, clause: string): Requirement {
  return { section, clause, state: "planned" };
}
