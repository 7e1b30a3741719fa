-- Records of an installation from before deployments had records of their own: one organization with an app in each state.

insert into auth.organization (id, name, slug, "createdAt") values
  ('0a000000-0000-4000-8000-000000000000', 'Acme', 'acme', now());

insert into apps (id, org_id, created_by, name, slug, repo, branch, status, status_message, error, manifest, fence, token_version, created_at, updated_at) values
  ('a0000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000000', '0b000000-0000-4000-8000-000000000000', 'shop', 'shop-k7m2xq', 'acme/shop', 'main', 'ready', 'The app is live. Two procedures were left out.', null, '{"framework": "hono"}', 3, 2, '2026-11-01T10:00:00.123Z', '2026-11-01T10:00:09.456Z'),
  ('a0000000-0000-4000-8000-000000000002', '0a000000-0000-4000-8000-000000000000', null, 'broken', 'broken-k7m2xq', 'acme/broken', 'next', 'failed', 'Correct the build script.', 'The build ended with code 7.', null, 1, 1, '2026-11-02T10:00:00Z', '2026-11-02T10:00:05Z'),
  ('a0000000-0000-4000-8000-000000000003', '0a000000-0000-4000-8000-000000000000', null, 'hello', 'hello-k7m2xq', 'examples/hello', 'main', 'building', 'Installing and building.', null, '{"object_bucket_name": "app-a0000000-0000-4000-8000-000000000003"}', 1, 1, '2026-11-03T10:00:00Z', '2026-11-03T10:00:02Z'),
  ('a0000000-0000-4000-8000-000000000004', '0a000000-0000-4000-8000-000000000000', null, 'leaving', 'leaving-k7m2xq', 'acme/leaving', 'main', 'deleting', 'The app is being torn down.', null, null, 2, 1, '2026-11-04T10:00:00Z', '2026-11-04T10:00:01Z'),
  ('a0000000-0000-4000-8000-000000000005', '0a000000-0000-4000-8000-000000000000', null, 'unbuilt', 'unbuilt-k7m2xq', 'acme/unbuilt', 'main', 'ready', null, null, null, 0, 1, '2026-11-05T10:00:00Z', '2026-11-05T10:00:01Z');

insert into builds (id, app_id, repo, branch, customization, commit, attempts, held_at, outcome, created_at, finished_at) values
  ('b0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', 'acme/shop', 'main', 'Make it blue.', '88a85ed43b4949e007893856de2c849d800586ad', 2, null, 'ready', '2026-11-01T10:00:00.124Z', '2026-11-01T10:00:09.457Z'),
  ('b0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000002', 'acme/broken', 'next', null, 'bd26e502d00a0ee7be03db502c858b3af0b56749', 1, null, 'failed', '2026-11-02T10:00:00Z', '2026-11-02T10:00:05Z'),
  -- A worker held this build a moment ago.
  ('b0000000-0000-4000-8000-000000000003', 'a0000000-0000-4000-8000-000000000003', 'examples/hello', 'main', null, null, 1, now(), null, '2026-11-03T10:00:00Z', null),
  ('b0000000-0000-4000-8000-000000000004', 'a0000000-0000-4000-8000-000000000004', 'acme/leaving', 'main', null, null, 1, null, null, '2026-11-04T10:00:00Z', null),
  -- No app has this build.
  ('b0000000-0000-4000-8000-000000000009', 'a0000000-0000-4000-8000-000000000009', 'acme/gone', 'main', null, null, 1, null, 'ready', '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z');

insert into app_procedures (id, app_id, org_id, name, kind, description, input_schema, output_schema, invocation) values
  ('c0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000000', 'order', 'mutation', 'Places an order.', '{"type": "object"}', null, '{"via": "trpc", "endpoint": "/trpc", "transformer": "none"}');
