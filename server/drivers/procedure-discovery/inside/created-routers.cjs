// Runs in a temporary process before the code of the app. tRPC is edited so that it passes every router here. Node.js runs this
// file as a CommonJS module and workerd as an ES module, so it neither imports nor exports anything.
"use strict";

(() => {
  const routers = [];
  let lastUsed = null;

  /** Called with `{ _def }` of each router that the app creates. Returns it unchanged, but notices when it is used. */
  globalThis.__serviceRouterCreated = (router) => {
    const { procedures } = router._def;
    Object.defineProperty(router._def, "procedures", {
      enumerable: true,
      get() {
        lastUsed = router;
        return procedures;
      },
    });
    routers.push(router);
    return router;
  };

  /** The router that handled the last request; otherwise the one that was created last, which contains the others. */
  globalThis.__serviceFindCreatedRouter = () => lastUsed || routers[routers.length - 1] || null;
})();
