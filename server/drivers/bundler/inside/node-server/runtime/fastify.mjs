// Part of the runtime of Node servers in workerd. Does what `fastify start` of fastify-cli does.

/**
 * Creates a server, registers the plugin that a module exports, and listens.
 *
 * @param {Function} Fastify the function of the package `fastify`
 * @param {Record<string, unknown>} app the exports of the module; a CommonJS module is its `default`
 * @param {object} options
 * @param {object} options.server the options of Fastify
 * @param {object} options.plugin the options of the plugin
 * @param {boolean} options.usesOptions whether the `options` that the module exports are used too
 */
export async function startFastify(Fastify, app, { server, plugin, usesOptions }) {
  const isCommonJs = typeof app.default === "object" && app.default !== null;
  const exported = isCommonJs ? app.default : app;
  const register = exported.default ?? exported;
  const own = (usesOptions && (exported.options ?? register.options)) || {};
  const settings = { ...own, ...plugin };
  if (settings.skipOverride) register[Symbol.for("skip-override")] = true;
  const fastify = Fastify({ ...server, ...own });
  await fastify.register(register, settings);
  // All addresses: a name would be looked up.
  await fastify.listen({ port: Number(process.env.PORT), host: "0.0.0.0" });
}
