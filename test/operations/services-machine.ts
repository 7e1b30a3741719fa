import type { Machine } from "./machines.ts";

/**
 * Starts what an operator has beside the service: two PostgreSQL servers, Redis, and Caddy with certificates for the domains.
 *
 * @returns the environment in which the commands of that machine run
 */
export async function startServices(
  machine: Machine,
  domains: readonly string[],
): Promise<{ restartAppsServer: () => Promise<void>; env: Record<string, string> }> {
  const { address } = machine;
  const bin = (await machine.run("ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1")).trim();
  const folder = `${machine.folder}/postgres`;
  const control = (port: number, action: string) =>
    `setpriv --reuid=postgres --regid=postgres --clear-groups ${bin}/pg_ctl -D ${folder}/${port} -w -l ${folder}/${port}.log -o "-p ${port} -k ${folder} -c listen_addresses='*'" ${action} >/dev/null`;
  await machine.run(`chmod 755 ${machine.folder} $(dirname ${machine.folder}); install -d -o postgres ${folder}`);
  for (const port of [5432, 5433])
    await machine.run(`
      setpriv --reuid=postgres --regid=postgres --clear-groups ${bin}/initdb -D ${folder}/${port} -U postgres --auth-local=trust >/dev/null
      echo "host all all ${address.replace(/\d+$/, "0")}/24 scram-sha-256" >>${folder}/${port}/pg_hba.conf
      ${control(port, "start")}`);
  await machine.run(
    `redis-server --bind ${address} --protected-mode no --save "" --daemonize yes --dir ${machine.folder} >/dev/null`,
  );
  const [service = "", apps = ""] = domains;
  await machine.run(`
    for name in service apps; do
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test \
        -addext "subjectAltName=DNS:${service},DNS:*.${apps}" -keyout /etc/caddy/$name.key -out /etc/caddy/$name.pem 2>/dev/null
    done
    cat /etc/caddy/*.pem >${machine.folder}/authority.pem
    echo 'resolve = "*:443:${address}"' >${machine.folder}/.curlrc`);
  return {
    restartAppsServer: async () => void (await machine.run(control(5433, "restart"))),
    env: { PGHOST: folder, CURL_HOME: machine.folder, CURL_CA_BUNDLE: `${machine.folder}/authority.pem` },
  };
}
