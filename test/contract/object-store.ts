import { describe, expect, test } from "vitest";
import { ObjectMissing, type ObjectStore } from "../../domain/ports/object-store.ts";

export interface ObjectStoreSetting extends AsyncDisposable {
  store: ObjectStore;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** The contract of every `ObjectStore`. */
export function objectStoreContract(driver: string, open: () => Promise<ObjectStoreSetting>): void {
  describe(`an object store (${driver})`, () => {
    test("get returns the bytes that were put", async () => {
      await using setting = await open();
      const body = Uint8Array.from({ length: 256 }, (_, n) => n);
      await setting.store.put("apps", "src/index.bin", body);
      expect(new Uint8Array((await setting.store.get("apps", "src/index.bin"))!)).toEqual(body);
    });

    test("an empty object can be stored", async () => {
      await using setting = await open();
      await setting.store.put("apps", "empty", bytes(""));
      expect((await setting.store.get("apps", "empty"))?.length).toBe(0);
      expect(await setting.store.list("apps")).toEqual([{ key: "empty", size: 0 }]);
    });

    test("put replaces the whole object", async () => {
      await using setting = await open();
      await setting.store.put("apps", "a", bytes("longer than the next"));
      await setting.store.put("apps", "a", bytes("short"));
      expect(Buffer.from((await setting.store.get("apps", "a"))!).toString()).toBe("short");
    });

    test("an object can be written and read in parts", async () => {
      await using setting = await open();
      async function* parts() {
        for (const part of ["one ", "two ", "three"]) yield bytes(part);
      }
      await setting.store.put("apps", "in-parts", parts());
      expect(Buffer.concat(await Array.fromAsync(setting.store.read("apps", "in-parts"))).toString()).toBe(
        "one two three",
      );
      await expect(Array.fromAsync(setting.store.read("apps", "none"))).rejects.toThrow(/none/);
    });

    test("a part of an object can be read, also one that ends after it", async () => {
      await using setting = await open();
      await setting.store.put("apps", "a", bytes("0123456789"));
      const read = async (offset: number, length: number) =>
        Buffer.concat(await Array.fromAsync(setting.store.read("apps", "a", { offset, length }))).toString();
      expect([await read(0, 3), await read(4, 1), await read(8, 100), await read(0, 10)]).toEqual([
        "012",
        "4",
        "89",
        "0123456789",
      ]);
      await expect(Array.fromAsync(setting.store.read("apps", "none", { offset: 0, length: 1 }))).rejects.toThrow(
        ObjectMissing,
      );
      await expect(Array.fromAsync(setting.store.read("none", "a"))).rejects.toThrow(ObjectMissing);
    });

    test("a durable object is stored as others are", async () => {
      await using setting = await open();
      await setting.store.put("apps", "a/b", bytes("x"), { durable: true });
      async function* parts() {
        yield bytes("y");
      }
      await setting.store.put("apps", "a/b", parts(), { durable: true });
      expect(Buffer.from((await setting.store.get("apps", "a/b"))!).toString()).toBe("y");
    });

    test("a body that fails in the middle stores nothing, and leaves the earlier object", async () => {
      await using setting = await open();
      await setting.store.put("apps", "a", bytes("earlier"));
      async function* failing() {
        yield bytes("half");
        throw new Error("the client is gone");
      }
      await expect(setting.store.put("apps", "a", failing())).rejects.toThrow("the client is gone");
      expect(Buffer.from((await setting.store.get("apps", "a"))!).toString()).toBe("earlier");
      expect(await setting.store.list("apps")).toEqual([{ key: "a", size: 7 }]);
    });

    test("a concurrent reader gets the complete old object or the complete new one", async () => {
      await using setting = await open();
      const [oldBody, newBody] = [Buffer.alloc(3_000_000, "o"), Buffer.alloc(3_000_000, "y")];
      await setting.store.put("apps", "a", oldBody);
      const writing = setting.store.put("apps", "a", newBody);
      const bodies = await Promise.all(Array.from({ length: 20 }, () => setting.store.get("apps", "a")));
      await writing;
      expect(bodies.every((body) => oldBody.equals(body!) || newBody.equals(body!))).toBe(true);
    });

    test("get returns null for an absent object and for an absent bucket", async () => {
      await using setting = await open();
      await setting.store.put("apps", "a/b", bytes("x"));
      expect([
        await setting.store.get("apps", "a"),
        await setting.store.get("apps", "a/b/c"),
        await setting.store.get("none", "a"),
      ]).toEqual([null, null, null]);
      expect(await setting.store.list("none")).toEqual([]);
    });

    test("one key can be the prefix of another", async () => {
      await using setting = await open();
      for (const key of ["a", "a/b", "a/b/c"]) await setting.store.put("apps", key, bytes(key));
      expect((await setting.store.list("apps")).map(({ key }) => key)).toEqual(["a", "a/b", "a/b/c"]);
      await setting.store.remove("apps", "a");
      expect((await setting.store.list("apps")).map(({ key }) => key)).toEqual(["a/b", "a/b/c"]);
    });

    test("list returns keys and sizes ordered by key, with any characters in the keys", async () => {
      await using setting = await open();
      const keys = [
        "+a/+b",
        "=a",
        "A",
        "a b",
        "a-",
        "a.b",
        "a/b",
        "a0",
        "é/ü",
        "日本/語",
        "~",
        ".hidden",
        "...",
        "con",
      ];
      await Promise.all(keys.map((key) => setting.store.put("apps", key, bytes(key))));
      const listed = keys.toSorted().map((key) => ({ key, size: bytes(key).length }));
      expect(await setting.store.list("apps")).toEqual(listed);
      for (const key of keys) expect(Buffer.from((await setting.store.get("apps", key))!).toString()).toBe(key);
    });

    test("remove removes one object and keeps the other objects of its folder", async () => {
      await using setting = await open();
      for (const key of ["a/b/c", "a/b/d"]) await setting.store.put("apps", key, bytes("x"));
      await setting.store.remove("apps", "a/b/c");
      expect(await setting.store.list("apps")).toEqual([{ key: "a/b/d", size: 1 }]);
    });

    test("removing an absent object or bucket succeeds", async () => {
      await using setting = await open();
      await setting.store.remove("none", "a/b");
      await setting.store.removeBucket("none");
      await setting.store.put("apps", "a", bytes("x"));
      await setting.store.remove("apps", "b/c");
      await setting.store.removeBucket("apps");
      await setting.store.removeBucket("apps");
      expect(await setting.store.listBuckets()).toEqual([]);
    });

    test("listBuckets returns the buckets that contain objects", async () => {
      await using setting = await open();
      for (const bucket of ["one", "two", "three"]) await setting.store.put(bucket, "a/b", bytes("x"));
      await setting.store.removeBucket("one");
      await setting.store.remove("two", "a/b");
      expect(await setting.store.listBuckets()).toEqual(["three"]);
    });

    test("a removed bucket is empty when it is used again", async () => {
      await using setting = await open();
      await setting.store.put("apps", "old", bytes("x"));
      await setting.store.removeBucket("apps");
      await setting.store.put("apps", "new", bytes("x"));
      expect((await setting.store.list("apps")).map(({ key }) => key)).toEqual(["new"]);
    });

    test("concurrent puts and removals in one folder all succeed", async () => {
      await using setting = await open();
      const names = Array.from({ length: 50 }, (_, n) => `folder/${n}`);
      await Promise.all(
        names.map(async (key) => {
          await setting.store.put("apps", key, bytes("x"));
          await setting.store.remove("apps", key);
          await setting.store.put("apps", `${key}-kept`, bytes("x"));
        }),
      );
      expect((await setting.store.list("apps")).length).toBe(50);
    });

    for (const key of [
      "",
      "/a",
      "a/",
      "a//b",
      ".",
      "..",
      "../a",
      "a/../b",
      "a/./b",
      "a/..",
      "a\0b",
      "n".repeat(300),
      "a/".repeat(600) + "b",
    ]) {
      test(`an invalid key is refused: ${JSON.stringify(key.slice(0, 20))}`, async () => {
        await using setting = await open();
        await expect(setting.store.put("apps", key, bytes("x"))).rejects.toThrow("Invalid object key");
        await expect(setting.store.get("apps", key)).rejects.toThrow("Invalid object key");
        await expect(setting.store.remove("apps", key)).rejects.toThrow("Invalid object key");
      });
    }

    for (const bucket of ["", ".", "..", "../apps", "a/b", ".staging", "A", "a b", "-a", "a".repeat(200)]) {
      test(`an invalid bucket name is refused: ${JSON.stringify(bucket.slice(0, 20))}`, async () => {
        await using setting = await open();
        await expect(setting.store.put(bucket, "a", bytes("x"))).rejects.toThrow("Invalid bucket name");
        await expect(setting.store.list(bucket)).rejects.toThrow("Invalid bucket name");
        await expect(setting.store.removeBucket(bucket)).rejects.toThrow("Invalid bucket name");
      });
    }
  });
}
