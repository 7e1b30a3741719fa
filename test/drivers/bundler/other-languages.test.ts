import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

const bundler = createTestBundler({}, tmpdir());
const VALID = "Node.js and Workers projects can be deployed.";

test.each([
  ["Go", { "go.mod": "module app\n", "main.go": "package main\n" }],
  ["Python", { "requirements.txt": "flask\n", "app.py": "" }],
  ["Python", { "pyproject.toml": "[project]\n", "package.json": `{ "private": true }` }],
  ["PHP", { "composer.json": "{}", "public/index.php": "<?php" }],
  ["Ruby", { Gemfile: "gem 'rails'\n", "package.json": `{ "private": true }`, Dockerfile: "FROM ruby\n" }],
  ["Rust", { "Cargo.toml": "[package]\n" }],
  ["Java", { "pom.xml": "<project/>" }],
  ["Elixir", { "mix.exs": "" }],
  [".NET", { "App.sln": "", "src/App.csproj": "" }],
  ["Docker", { Dockerfile: "FROM scratch\n" }],
  ["Hugo", { "hugo.toml": "", "content/a.md": "" }],
  ["Hugo", { "config.toml": "", "archetypes/default.md": "" }],
  ["Jekyll", { "_config.yml": "", Gemfile: "", "index.html": "---\nlayout: home\n---\n{{ content }}" }],
  ["Deno", { "deno.json": "{}", "main.ts": "Deno.serve(() => new Response())" }],
])("a repository with only a %s project is refused by its name", async (name, files) => {
  expect(await bundleFailure(bundler, files)).toMatchObject({
    kind: "user",
    message: `This is ${name === "Elixir" ? "an" : "a"} ${name} project. ${VALID}`,
    advice: "Deploy a repository with a package.json, a wrangler configuration or an index.html.",
  });
});

test("the advice names the folder of a front end, and no folder of tests or templates", async () => {
  const files = {
    "go.mod": "",
    "app/templates/index.html": "",
    "web/package.json": "{}",
    "test/page/index.html": "",
    "examples/a/package.json": "{}",
  };
  const { message, advice } = await bundleFailure(bundler, files);
  expect(message).toBe(`This is a Go project. ${VALID}`);
  expect(advice).toContain("set root_directory to its folder, such as web, when you deploy");
});

test("the front end of a Python repository is deployed, with a warning", async () => {
  await using checkout = await createCheckout({
    "requirements.txt": "flask\n",
    "package.json": JSON.stringify({ scripts: { build: "mkdir dist && echo hello >dist/index.html" } }),
  });
  const { bundle } = await runBundler(bundler, checkout);
  expect(bundle.warnings).toEqual([
    "The repository is a Python project too. Only its front end was deployed: static files, without the server.",
  ]);
});

test("a build script that runs a program of another language is a failure that says so", async () => {
  const files = { "hugo.toml": "", "package.json": JSON.stringify({ scripts: { build: "hugo --minify" } }) };
  expect(await bundleFailure(bundler, files)).toMatchObject({
    message: `The build script runs "hugo". Builds have Node.js and the programs of npm packages only.`,
  });
});
