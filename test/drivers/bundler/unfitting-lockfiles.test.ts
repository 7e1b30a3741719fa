import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { GREETING_WORKER, WORDS } from "../../support/builds/greeting-packages.ts";
import { createCheckout, bundleFailure } from "../../support/builds/bundle-checkout.ts";
import { installCheckout, installWithWarnings, readImported } from "../../support/builds/install-checkout.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { manifest, openInstallRegistry } from "../../support/builds/install-registry.ts";

const otherRegistry = "https://registry.example";

describe("an install whose lockfile does not fit", () => {
  test("a version of yarn.lock that the registry no longer has is replaced, with a warning", async () => {
    await using h = await openInstallRegistry();
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies: { "@scope/words": "2.0.0" }, optionalDependencies: { host: "^1.0.0" } }),
      "yarn.lock": `# yarn lockfile v1\n\n\n"@scope/words@2.0.0":\n  version "2.0.0"\n  resolved "${otherRegistry}/@scope/words/-/words-2.0.0.tgz"\n\nhost@^1.0.0:\n  version "1.0.7"\n  resolved "${otherRegistry}/host/-/host-1.0.7.tgz"\n`,
      "index.js": GREETING_WORKER,
    });
    const { warnings } = await installWithWarnings(h.packages, checkout);
    expect(warnings).toEqual([expect.stringContaining("no longer has host@1.0.7 of yarn.lock")]);
    expect(await readFile(path.join(checkout.sourceDirectory, "node_modules/host/package.json"), "utf8")).toContain(
      "1.0.0",
    );
  });

  test("Yarn 1 downloads no package of yarn.lock that is for another platform", async () => {
    await using h = await openInstallRegistry();
    const names = ["host-darwin-arm64", "host-linux-riscv64", "@scope/host-win32-x64", "fsevents", "host"];
    const entry = (name: string) =>
      `"${name}@1.0.0":\n  version "1.0.0"\n  resolved "${otherRegistry}/${name}/-/${name.split("/").at(-1)}-1.0.0.tgz"\n`;
    const optional = names.map((name) => `    "${name}" "1.0.0"\n`).join("");
    const onlyOther = `  optionalDependencies:\n    "host-darwin-arm64" "1.0.0"\n`;
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies: { guest: "1.0.0", portable: "1.0.0" }, packageManager: "yarn@1.22.0" }),
      "yarn.lock": `# yarn lockfile v1\n\n\n${[`${entry("guest")}  optionalDependencies:\n${optional}`, `${entry("portable")}${onlyOther}`, ...names.map(entry)].join("\n")}`,
      "index.js": GREETING_WORKER,
    });
    const { warnings } = await installWithWarnings(h.packages, checkout);
    expect(warnings).toEqual([]);
    const downloaded = h.registry.requests.filter((path) => /\/(guest|host|portable)[^/]*\/.*\.tgz$/.test(path));
    expect(downloaded.toSorted()).toEqual(
      ["guest", "host", "portable"].map((name) => `/files/${name}/1.0.0/content.tgz`),
    );
  });

  test.each([["pnpm-workspace.yaml", "allowBuilds:\n  greeting: true\nneverBuiltDependencies:\n  - host\n"]])(
    "pnpm accepts both lists of scripts in %s, and the file stays as it is",
    async (file, text) => {
      await using h = await openInstallRegistry();
      await using checkout = await createCheckout({
        "package.json": manifest({ packageManager: "pnpm@11.0.0" }),
        [file]: text,
        "index.js": GREETING_WORKER,
      });
      await installCheckout(h.packages, checkout);
      expect(await readFile(path.join(checkout.sourceDirectory, file), "utf8")).toBe(text);
    },
  );

  test("a peer conflict that the lockfile contains is a warning", async () => {
    await using h = await openInstallRegistry();
    const dependencies = { host: "1.0.0", guest: "1.0.0" };
    const locked = (name: string) => ({ version: "1.0.0", resolved: `${otherRegistry}/${name}/-/${name}-1.0.0.tgz` });
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies }),
      "package-lock.json": JSON.stringify({
        lockfileVersion: 3,
        packages: {
          "": { dependencies },
          "node_modules/host": locked("host"),
          "node_modules/guest": { ...locked("guest"), peerDependencies: { host: "^2.0.0" } },
        },
      }),
      "index.js": GREETING_WORKER,
    });
    const { warnings } = await installWithWarnings(h.packages, checkout);
    expect(warnings.at(-1)).toMatch(/^Peer dependencies conflict.*--legacy-peer-deps/);
    expect(await readFile(path.join(checkout.sourceDirectory, "node_modules/guest/package.json"), "utf8")).toContain(
      "guest",
    );
  });

  test("a peer dependency that the lockfile contains is installed, although another one conflicts", async () => {
    await using h = await openInstallRegistry();
    const dependencies = { host: "1.0.0", tour: "1.0.0" };
    const locked = (name: string) => ({ version: "1.0.0", resolved: `${otherRegistry}/${name}/-/${name}-1.0.0.tgz` });
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies }),
      "package-lock.json": JSON.stringify(
        {
          lockfileVersion: 3,
          packages: {
            "": { dependencies },
            "node_modules/host": locked("host"),
            "node_modules/tour": { ...locked("tour"), peerDependencies: { host: "^2.0.0", leader: "1.0.0" } },
            "node_modules/leader": { ...locked("leader"), peer: true },
          },
        },
        null,
        2,
      ),
      "index.js": GREETING_WORKER,
    });
    const { warnings } = await installWithWarnings(h.packages, checkout);
    expect(warnings.at(-1)).toMatch(/^Peer dependencies conflict.*--force/);
    expect(await readFile(path.join(checkout.sourceDirectory, "node_modules/leader/package.json"), "utf8")).toContain(
      "leader",
    );
  });

  test.each([["npm@11.0.0"], ["pnpm@10.0.0"], ["yarn@1.22.0"]])(
    "%s: an .npmrc with a token of its author's machine and the public registry for a scope works",
    async (packageManager) => {
      await using h = await openInstallRegistry();
      const npmrc = "@scope:registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n";
      await using checkout = await createCheckout({
        "package.json": manifest({ packageManager }),
        ".npmrc": npmrc,
        "index.js": GREETING_WORKER,
      });
      await installCheckout(h.packages, checkout);
      expect(await readImported(checkout, "greeting", "@scope/words")).toBe(WORDS);
    },
  );

  test.each([
    ["github:owner/repository", "npm@11.0.0", /elsewhere/],
    ["git+ssh://git@github.com/owner/repository.git", "npm@11.0.0", /elsewhere/],
    ["https://example.com/elsewhere.tgz", "npm@11.0.0", /^elsewhere could not be fetched from https:\/\/example\.com/],
    ["github:owner/repository", "yarn@1.22.0", /elsewhere/],
    ["github:owner/repository", "pnpm@10.0.0", /elsewhere/],
  ])("a dependency on %s fails with %s, and the error names it", async (source, packageManager, message) => {
    await using h = await openInstallRegistry();
    const dependencies = { elsewhere: source };
    const files = { "package.json": manifest({ packageManager, dependencies }), "index.js": "" };
    expect((await bundleFailure(h.bundler, files)).message).toMatch(message);
  });

  verifies(
    [hazard(49), hazard(50)],
    "code that a project runs during its install reaches no host and no credentials",
    async () => {
      await using h = await openInstallRegistry();
      const probe = `for (const url of ["${h.registry.url}smuggled", "http://169.254.169.254/", "http://1.1.1.1/"])
      await fetch(url).then(() => console.log("REACHED", url), () => console.log("BLOCKED", url));
      console.log(JSON.stringify(process.env));`;
      await using checkout = await createCheckout({
        "package.json": manifest({ packageManager: "pnpm@10.0.0" }),
        ".pnpmfile.cjs": `require("node:child_process").spawnSync("sh", ["-c", "node probe.mjs; cat ~/.npmrc; ls -A /root"], { stdio: "inherit" });`,
        "probe.mjs": probe,
        "index.js": GREETING_WORKER,
      });
      const log = await installCheckout(h.packages, checkout);
      expect(log).toContain("BLOCKED http://1.1.1.1/");
      expect(log).not.toMatch(/REACHED|npm-secret/);
      expect(h.registry.requests).not.toContain("/smuggled");
    },
  );
});
