export interface IndexHit {
  indexId: number;
  /** A higher score is better. Scores are comparable within one search only. */
  score: number;
}

/** Keeps the hits with the highest scores; of equal ones, those with the lowest index ids. */
export class BestHits {
  readonly #limit: number;
  /** A binary heap: the worst hit first. */
  readonly #heap: IndexHit[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The score that a hit with a higher index id must exceed. */
  get threshold(): number {
    return this.#heap.length < this.#limit ? 0 : (this.#heap[0]?.score ?? 0);
  }

  add(hit: IndexHit): void {
    if (this.#heap.length < this.#limit) {
      this.#heap.push(hit);
      this.#moveUp(this.#heap.length - 1);
    } else if (isWorse(this.#heap[0], hit)) {
      this.#heap[0] = hit;
      this.#moveDown(0);
    }
  }

  /** The best hit first. */
  toSorted(): IndexHit[] {
    return this.#heap.toSorted((a, b) => b.score - a.score || a.indexId - b.indexId);
  }

  #moveUp(start: number): void {
    let child = start;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!isWorse(this.#heap[child], this.#heap[parent])) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #moveDown(start: number): void {
    let parent = start;
    for (;;) {
      const left = 2 * parent + 1;
      const worse = isWorse(this.#heap[left + 1], this.#heap[left]) ? left + 1 : left;
      if (!isWorse(this.#heap[worse], this.#heap[parent])) return;
      this.#swap(parent, worse);
      parent = worse;
    }
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) return;
    this.#heap[a] = second;
    this.#heap[b] = first;
  }
}

function isWorse(a: IndexHit | undefined, b: IndexHit | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.score < b.score || (a.score === b.score && a.indexId > b.indexId);
}
