// Creates and claims in PostgreSQL, without HTTP: bun scripts/bench/postgres-claims.ts postgres://user@host:port/postgres
//
// Makes a database of its own on that server and drops it afterwards. NODES=2 spreads the load over two nodes of this process,
// READERS is the number of callers that wait at the same time, FILL the number of pushes that are there before.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { createDatabase } from '../../src/store/postgres/engine/database.ts'
import { migrate } from '../../src/store/postgres/schema/migrate.ts'
import { connectTo } from '../../test/support/postgres.ts'
import { operationsOver } from '../../test/support/postgres-nodes.ts'
import { examplePush, VISIT } from '../../test/support/store.ts'

const [server = 'postgres://postgres@127.0.0.1:5432/postgres'] = process.argv.slice(2)
const { NODES = '1', READERS = '256', CREATES = '20000', FILL = '0' } = process.env
const NAME = `oncebox_bench_${process.pid}`
const PAYLOAD = randomBytes(96)
const admin = new SQL({ url: `${server}?sslmode=disable`, max: 1 })
await admin.unsafe(`CREATE DATABASE ${NAME}`).simple()
const address = server.replace(/\/[^/]*$/, `/${NAME}`)
const connect = connectTo(address)
await migrate({ connect })

const pools = Array.from({ length: Number(NODES) }, () => createDatabase({ connect }))
const keyring = parseKeyFile(newKeyFile())
const nodes = pools.map((database) => operationsOver(database, keyring, Date.now))
const sql = connect(1)

function create(n: number, views: number) {
  const secrets = {
    ...{ salt: PAYLOAD.subarray(0, 16), wrappedKey: PAYLOAD.subarray(0, 62) },
    ...{ payload: PAYLOAD, passphraseSalt: null },
  }
  return nodes[n % nodes.length]?.pushes.createPush({
    ...{ push: examplePush(Date.now(), { expireAfterViews: views }), lookup: randomBytes(16), keyNumber: 1 },
    ownerResets: 0,
    ...{ secrets, labels: null, files: [], idempotency: null, share: null, visit: VISIT },
  })
}

/** Microseconds of CPU that the server's processes for this database have used; 0 when the server is on another machine. */
async function serverCpu(): Promise<number> {
  const backends = await sql.unsafe('SELECT pid FROM pg_stat_activity WHERE datname = $1', [NAME])
  return backends
    .map(({ pid }: { pid: number }) => `/proc/${pid}/stat`)
    .filter((path: string) => existsSync(path))
    .map((path: string) => readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [])
    .reduce((sum: number, fields: string[]) => sum + (Number(fields[11]) + Number(fields[12])) * 10_000, 0)
}

async function measure(title: string, count: number, work: (n: number) => Promise<unknown> | undefined) {
  const times: number[] = []
  let next = 0
  const started = performance.now()
  const cpu = process.cpuUsage()
  const serverBefore = await serverCpu()
  await Promise.all(
    Array.from({ length: Number(READERS) }, async () => {
      for (let n = next++; n < count; n = next++) {
        const at = performance.now()
        await work(n)
        times.push(performance.now() - at)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(1)
  const own = ((user + system) / count).toFixed(0)
  const servers = (((await serverCpu()) - serverBefore) / count).toFixed(0)
  console.log(
    `${title}: ${Math.round(count / seconds)}/s, p50 ${at(0.5)} p99 ${at(0.99)} max ${at(0.9999)} ms, ${own} µs of CPU each here, ${servers} µs there`,
  )
}

if (Number(FILL) > 0) await measure('fill', Number(FILL), (n) => create(n, 5))
const counted = Number(CREATES)
for (const views of [1, 5]) {
  const lookups: Uint8Array[] = []
  await measure(`creates (${views} views)`, counted, async (n) => {
    const push = await create(n, views)
    if (push !== undefined) lookups.push(push.lookup)
  })
  const claims = Array.from({ length: counted * views }, (_, n) => lookups[n % counted]).sort(
    () => Math.random() - 0.5,
  )
  await measure(`claims (${views} views)`, claims.length, async (n) => {
    const lookup = claims[n]
    if (lookup === undefined) return
    const claimed = await nodes[n % nodes.length]?.pushes.claimPlain({
      ...{ lookup, visit: VISIT, lookBy: null, open: () => 'payload' },
    })
    if (claimed === null || claimed === 'not_plain' || claimed?.content !== 'payload')
      throw new Error('no payload')
  })
}
console.log(
  await sql.unsafe(`SELECT relname, n_tup_upd::int, n_tup_hot_upd::int, seq_scan::int FROM pg_stat_user_tables
    WHERE relname IN ('pushes', 'push_secrets', 'audit_entries', 'idempotency_keys', 'live_shares', 'files_due', 'push_files')`),
)
await Promise.all(pools.map((pool) => pool.close()))
await sql.close()
await admin.unsafe(`DROP DATABASE ${NAME} WITH (FORCE)`).simple()
await admin.close()
process.exit(0)
