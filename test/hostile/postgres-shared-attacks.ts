import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, judgeHeld } from "./attack.ts";
import { diskMb, judgeNeighbour, largest, postgresAttack, startAttack } from "./postgres-attack.ts";

const MAX_QUEUE_MB = 4096;
const LOG_MS = 10_000;
/** Of two minutes, if another one begins meanwhile. */
const MAX_LINES = 80;

const NOTIFICATIONS = `const listener = await connect();
  for (const each of ["listen news", "begin", "select 1"]) await listener.query(each);
  return flood(["select pg_notify('news', repeat('x', 7000) || g) from generate_series(1, 10000) g"], 5);`;

const ADVISORY_LOCKS = `return flood(["select count(pg_advisory_lock(random(1, 1e9::bigint))) from generate_series(1, 1000000) g"]);`;

/** Takes one lock after the other, keeps them, and waits where the table of locks is full. */
const takeEach = (select: string, take: string) => `do $$ declare each record; begin
    for each in ${select} order by random() loop
      begin ${take}; exception when out_of_memory then perform pg_sleep(0.01); end;
    end loop;
    perform pg_sleep(30);
  end $$`;

/** One by one in some connections, and with one statement in the others. */
const RELATION_LOCKS = `const db = await connect();
  await db.query("create table parent ()");
  await db.query("do $$ begin for n in 1..30000 loop execute 'create table t_' || n || '() inherits (parent)'; if n % 1000 = 0 then commit; end if; end loop; end $$");
  flood(["begin", "lock table parent in access share mode", "select pg_sleep(5)", "rollback"], 5);
  return flood([\`${takeEach("select relname from pg_class where relname ~ '^t_'", "execute 'lock table ' || each.relname || ' in access share mode'")}\`]);`;

const LARGE_OBJECT_LOCKS = `const db = await connect();
  await db.query("select count(lo_create(g)) from generate_series(1, 300000) g");
  return flood([\`${takeEach("select oid from pg_largeobject_metadata where oid::bigint % 20 = pg_backend_pid() % 20", "perform lo_unlink(each.oid)")}\`]);`;

/** Each transaction in a transaction has a lock, if it writes. */
const SAVEPOINT_LOCKS = `const db = await connect();
  await db.query("create table t (n int)");
  const nested = "begin;" + "savepoint s; insert into t values (1);".repeat(20000);
  return flood([nested, "select pg_sleep(5)", "rollback"]);`;

/** Wrong passwords, other roles, and plans that a role may print. */
const LOG_LINES = `flood(["set debug_print_plan = on", "set debug_print_parse = on", "select count(*) from pg_class, pg_proc where false"], 5);
  const fail = async (options) => {
    for (;;) await connect(options).catch(() => new Promise((resolve) => setTimeout(resolve, 5)));
  };
  for (let n = 0; n < 10; n++) void fail({ password: "wrong" }), void fail({ user: "nobody\\nPANIC:  invented" });
  return "started";`;

/** Attacks on what all apps share in the server. */
export const POSTGRES_SHARED_ATTACKS: readonly Attack[] = [
  postgresAttack("PostgreSQL of an app: notifications while a listener is in a transaction", async (t) => {
    await startAttack(t, NOTIFICATIONS);
    return judgeHeld(await largest(() => diskMb(t)), MAX_QUEUE_MB, "the listener is ended");
  }),
  ...Object.entries({
    "advisory locks": ADVISORY_LOCKS,
    "locks of tables": RELATION_LOCKS,
    "locks of large objects": LARGE_OBJECT_LOCKS,
    "locks of nested transactions": SAVEPOINT_LOCKS,
  }).map(([name, attack]) =>
    postgresAttack(`PostgreSQL of an app: ${name}`, async (t) => {
      const text = await startAttack(t, attack);
      return text === "started" ? judgeNeighbour(t) : { isContained: false, text };
    }),
  ),
  postgresAttack("PostgreSQL of an app: lines in the log", async (t) => {
    await startAttack(t, LOG_LINES);
    await sleep(LOG_MS);
    const count = t.postgresLines.length + t.log.filter(({ message }) => message.includes("PostgreSQL")).length;
    return { isContained: count <= MAX_LINES, text: `${count} lines with a limit of ${MAX_LINES}` };
  }),
];
