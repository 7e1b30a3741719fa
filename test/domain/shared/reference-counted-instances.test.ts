import { expect, test } from "vitest";
import { ReferenceCountedInstances } from "../../../domain/shared/reference-counted-instances.ts";

class Instance implements Disposable {
  disposals = 0;

  [Symbol.dispose](): void {
    this.disposals++;
  }
}

test("users of one key share an instance, which is disposed with the last of them", () => {
  const instances = new ReferenceCountedInstances<Instance>();
  const [first, second] = [new Instance(), new Instance()];
  const one = instances.acquire("a", () => first);
  const other = instances.acquire("a", () => second);
  expect([one.instance, other.instance, instances.get("a")]).toEqual([first, first, first]);
  expect(other.instance).toBe(first);
  one.release();
  one.release();
  expect([first.disposals, instances.get("a")]).toEqual([0, first]);
  other.release();
  other.release();
  expect([first.disposals, instances.get("a"), instances.all()]).toEqual([1, undefined, []]);
  expect(instances.acquire("a", () => second).instance).toBe(second);
});

test("a late release of an instance leaves the next one of its key in use", () => {
  const instances = new ReferenceCountedInstances<Instance>();
  const { release } = instances.acquire("a", () => new Instance());
  release();
  const next = instances.acquire("a", () => new Instance()).instance;
  release();
  expect([instances.get("a") === next, next.disposals]).toEqual([true, 0]);
});

test("each key has its own instance, and all are disposed together", () => {
  const instances = new ReferenceCountedInstances<Instance>();
  const [first, second] = [new Instance(), new Instance()];
  instances.acquire("a", () => first);
  instances.acquire("b", () => second);
  const all = instances.all();
  expect([all.length, all[0] === first, all[1] === second]).toEqual([2, true, true]);
  instances[Symbol.dispose]();
  expect([first.disposals, second.disposals]).toEqual([1, 1]);
});
