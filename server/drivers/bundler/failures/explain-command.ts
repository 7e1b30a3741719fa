import { BuildFailure } from "../../../../domain/shared/errors.ts";

/** What is printed of a command that does not exist, and what precedes the command: dash, bash, Bun and Yarn. */
const NOT_FOUND: readonly (readonly [command: RegExp, before: RegExp])[] = [
  [/([\w@./-]{1,100}): (?:command )?not found$/, /\b(?:ba)?sh: (?:line )?(?:\d{1,6}: )?$/],
  [/ ([\w@./-]{1,100})$/, /\bcommand not found:$/],
];

const PROGRAMS_OF_OTHER_LANGUAGES =
  /^(hugo|zola|jekyll|bundle|ruby|rake|python3?|pip3?|uv|poetry|php|composer|go|cargo|rustc|wasm-pack|java|mvn|gradle|dotnet|mix|make|cmake|docker|jq|zip|rsync|pandoc|pwsh|sudo|brew)$/;

/** The packages of commands that have another name. */
const PACKAGES: Readonly<Record<string, string>> = {
  babel: "@babel/cli",
  biome: "@biomejs/biome",
  cap: "@capacitor/cli",
  changeset: "@changesets/cli",
  cleancss: "clean-css-cli",
  docusaurus: "@docusaurus/core",
  dotenv: "dotenv-cli",
  eleventy: "@11ty/eleventy",
  ember: "ember-cli",
  "graphql-codegen": "@graphql-codegen/cli",
  grunt: "grunt-cli",
  nest: "@nestjs/cli",
  ng: "@angular/cli",
  "opennextjs-cloudflare": "@opennextjs/cloudflare",
  panda: "@pandacss/dev",
  "paraglide-js": "@inlang/paraglide-js",
  postcss: "postcss-cli",
  "react-router": "@react-router/dev",
  redocly: "@redocly/cli",
  remix: "@remix-run/dev",
  rsbuild: "@rsbuild/core",
  rspack: "@rspack/cli",
  "run-p": "npm-run-all",
  "run-s": "npm-run-all",
  slidev: "@slidev/cli",
  strapi: "@strapi/strapi",
  "svelte-kit": "@sveltejs/kit",
  swc: "@swc/cli",
  tailwindcss: "@tailwindcss/cli",
  tsc: "typescript",
  uglifyjs: "uglify-js",
  "vue-cli-service": "@vue/cli-service",
  webpack: "webpack-cli",
};

/**
 * Says which command does not exist, and in which package it usually is.
 *
 * @param subject - what runs the command
 * @returns `null` if no line names such a command
 */
export function explainMissingCommand(subject: string, lines: readonly string[]): BuildFailure | null {
  const command = lines.map(findCommand).find((name) => name !== null);
  if (command === undefined || command === null) return null;
  if (PROGRAMS_OF_OTHER_LANGUAGES.test(command))
    return new BuildFailure(
      "user",
      `${subject} runs "${command}". Builds have Node.js and the programs of npm packages only.`,
      "Run this program before you commit, and commit what it writes. Or use a tool from an npm package instead.",
    );
  return new BuildFailure(
    "user",
    `${subject} runs the command "${command}", which is not installed.`,
    adviseOn(command),
  );
}

function findCommand(line: string): string | null {
  for (const [pattern, before] of NOT_FOUND) {
    const match = pattern.exec(line);
    if (match?.[1] !== undefined && before.test(line.slice(0, match.index))) return match[1];
  }
  return null;
}

function adviseOn(command: string): string {
  if (/[./]/.test(command)) return "Correct the path in the command, or commit the file, and deploy again.";
  const name = Object.hasOwn(PACKAGES, command) ? PACKAGES[command] : command;
  return `This command is usually in the npm package ${name}. Add it to devDependencies in package.json (npm install --save-dev ${name}), commit the lockfile too, and deploy again.`;
}
