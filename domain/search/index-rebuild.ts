/**
 * A scope has two sets of postings. Searches read one of them. The other one is empty, or it is being built with a newer
 * analyzer, or it was read before and is being removed.
 */
export interface ScopeSets {
  id: number;
  /** 0 or 1. */
  postings_set: number;
}

/** The progress of a set of postings that is being built. */
export interface Rebuild {
  /** The `ANALYZER_VERSION` it is built with. A removal by a process with an older one lowers it. */
  version: number;
  /** The set contains the texts with lower index ids. */
  nextIndexId: number;
  textCount: number;
  /** The sum of the words of these texts. */
  totalLength: number;
}

/** Returns the `scope_id` of the postings that searches read: the id of the scope, or its negative. */
export function postingsIdOf({ id, postings_set: set }: ScopeSets): number {
  return set === 0 ? id : -id;
}

/** Returns the `scope_id` of the other set of postings. */
export function otherPostingsIdOf(scope: ScopeSets): number {
  return -postingsIdOf(scope);
}
