// PostgreSQL and MariaDB as Debian packages them: on the loopback address, with a private cluster in a
// temporary folder, under another user if root runs the tests. Starting a server takes half a second of CPU
// time, so the files of one process share it.

import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { makeFastFolder } from '../../scripts/fast-folder.ts'
import { findMariadb, findPostgres } from '../../scripts/programs.ts'
import { testCertificate, testKey } from './certificate.ts'
import { freePort } from './free-port.ts'

export type Engine = 'postgres' | 'mariadb'

export type DatabaseServer = {
  engine: Engine
  port: number
  user: string
  password: string
  /** The certificate of the server, which is its own authority. */
  authority: string
  /** The socket's path or, for PostgreSQL, its folder. */
  socket: string
  /** The file of its log. */
  log: string
  /** Makes an empty database, in UTF-8 unless `latin1` is true. */
  newDatabase(latin1?: boolean): Promise<ServerDatabase>
  removeDatabase(name: string): Promise<void>
  stop(): Promise<void>
}

export type ServerDatabase = { name: string; address: string; sql: SQL; close(): Promise<void> }

const LATIN1 = " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
const PASSWORD = "p@ss:w/o#rd ü'"
const USER = 'pwpush'
const START_MS = 180_000

/** Servers without flags, which run until this process ends. */
const shared = new Map<Engine, Promise<DatabaseServer>>()

/**
 * Starts a server. `flags`: its command line; without them the server is shared, and `stop` only removes its
 * new databases. Throws if it does not answer before the timeout.
 */
export async function startDatabaseServer(
  engine: Engine,
  { flags = [] }: { flags?: readonly string[] } = {},
): Promise<DatabaseServer> {
  if (flags.length > 0) return startOwnServer(engine, flags)
  const started = shared.get(engine) ?? startOwnServer(engine, [])
  shared.set(engine, started)
  const server = await started
  const made: ServerDatabase[] = []
  return {
    ...server,
    newDatabase: async (latin1) => {
      const database = await server.newDatabase(latin1)
      made.push(database)
      return database
    },
    stop: async () => {
      for (const { name, close } of made.splice(0)) {
        await close()
        await server.removeDatabase(name)
      }
    },
  }
}

async function startOwnServer(engine: Engine, flags: readonly string[]): Promise<DatabaseServer> {
  const programs = programsOf(engine)
  if (programs === null) throw new Error(`${engine} is not installed`)
  const folder = makeFastFolder(`oncebox-${engine}-`)
  const as = otherUser(engine)
  prepareFolder(folder, as)
  await run([...as.prefix, ...programs.make(folder)])
  const port = freePort()
  const child = Bun.spawn([...as.prefix, ...programs.serve(folder, port), ...flags], {
    stdio: ['ignore', 'ignore', Bun.file(join(folder, 'log'))],
    env: ENV,
  })
  const end = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  removeWithThisProcess(folder)
  const admin = connect({
    engine,
    port,
    user: programs.admin,
    password: PASSWORD,
    database: programs.adminDatabase,
  })
  try {
    await untilItAnswers(admin, { child, log: join(folder, 'log') })
    await programs.addUser(admin)
  } catch (cause) {
    end()
    throw cause
  }
  let made = 0

  return {
    engine,
    port,
    user: USER,
    password: PASSWORD,
    authority: join(folder, 'cert.pem'),
    log: join(folder, 'log'),
    socket: engine === 'postgres' ? folder : join(folder, 's'),
    newDatabase: async (latin1 = false) => {
      made += 1
      const name = `pwpush_${made}`
      await admin.unsafe(programs.newDatabase(name, latin1))
      const sql = connect({ engine, port, user: USER, password: PASSWORD, database: name })
      const login = `${USER}:${encodeURIComponent(PASSWORD)}`
      const scheme = engine === 'postgres' ? 'postgres' : 'mysql2'
      return {
        name,
        sql,
        address: `${scheme}://${login}@127.0.0.1:${port}/${name}`,
        close: () => sql.close({ timeout: 0 }),
      }
    },
    removeDatabase: async (name) => {
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name}${engine === 'postgres' ? ' WITH (FORCE)' : ''}`)
    },
    stop: async () => {
      await admin.close({ timeout: 0 })
      child.kill(engine === 'postgres' ? 'SIGQUIT' : 'SIGKILL')
      await child.exited
      end()
    },
  }
}

/**
 * Removes the folder when this process ends. A test run ends without notice, but closes the pipe. By then the
 * server has ended.
 */
function removeWithThisProcess(folder: string): void {
  const script = 'trap "" INT TERM HUP; cat; sleep 1; rm -rf "$0"'
  Bun.spawn(['sh', '-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'] }).unref()
}

type Login = { engine: Engine; port: number; user: string; password: string; database: string }

function connect({ engine, port, user, password, database }: Login): SQL {
  const adapter = engine === 'postgres' ? 'postgres' : 'mariadb'
  // Give the address explicitly, so that no environment variable replaces it.
  return new SQL({
    ...{
      url: `${engine}://127.0.0.1`,
      adapter,
      hostname: '127.0.0.1',
      port,
      username: user,
      password,
      database,
    },
    ...{ max: 1, connectionTimeout: 60 },
  })
}

async function untilItAnswers(
  sql: SQL,
  { child, log }: { child: Bun.Subprocess; log: string },
): Promise<void> {
  const until = performance.now() + START_MS
  for (;;) {
    try {
      await sql.unsafe('SELECT 1').simple()
      return
    } catch (cause) {
      if (child.exitCode !== null || performance.now() > until)
        throw new Error(`the server did not start: ${cause}\n${await Bun.file(log).text()}`)
      await Bun.sleep(100)
    }
  }
}

type Programs = {
  admin: string
  adminDatabase: string
  make(folder: string): string[]
  serve(folder: string, port: number): string[]
  addUser(admin: SQL): Promise<void>
  newDatabase(name: string, latin1: boolean): string
}

function programsOf(engine: Engine): Programs | null {
  return engine === 'postgres' ? postgres() : mariadb()
}

function postgres(): Programs | null {
  const bin = findPostgres()
  if (bin === null) return null
  const data = (folder: string) => join(folder, 'data')
  // The server of Oncebox refuses to work without fsync, which costs little in memory.
  const quick = ['-c', 'synchronous_commit=off']
  const tls = (folder: string) => [
    ...['-c', 'ssl=on', '-c', `ssl_cert_file=${join(folder, 'cert.pem')}`],
    ...['-c', `ssl_key_file=${join(folder, 'key.pem')}`],
  ]
  return {
    admin: 'postgres',
    adminDatabase: 'postgres',
    make: (folder) => [
      ...[join(bin, 'initdb'), '-D', data(folder), '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync'],
      ...['-A', 'scram-sha-256', `--pwfile=${join(folder, 'password')}`],
    ],
    serve: (folder, port) => [
      ...[join(bin, 'postgres'), '-D', data(folder), '-p', String(port), '-k', folder],
      ...['-h', '127.0.0.1', ...quick, ...tls(folder)],
    ],
    addUser: async (admin) => {
      await admin.unsafe(`CREATE ROLE ${USER} LOGIN PASSWORD '${PASSWORD.replaceAll("'", "''")}'`).simple()
      await admin.unsafe("CREATE ROLE stranger LOGIN PASSWORD 'stranger'").simple()
    },
    newDatabase: (name, latin1) => `CREATE DATABASE ${name} OWNER ${USER}${latin1 ? LATIN1 : ''}`,
  }
}

function mariadb(): Programs | null {
  const found = findMariadb()
  if (found === null) return null
  const { install, server } = found
  const small = ['--innodb-log-file-size=8M', '--innodb-buffer-pool-size=32M']
  const quick = [...small, '--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0']
  const data = (folder: string) => `--datadir=${join(folder, 'data')}`
  return {
    admin: 'root',
    adminDatabase: 'mysql',
    make: (folder) => [
      ...[install, '--no-defaults', data(folder), '--auth-root-authentication-method=normal'],
      ...['--skip-test-db', '--skip-name-resolve', ...small],
    ],
    serve: (folder, port) => [
      ...[
        server,
        '--no-defaults',
        data(folder),
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
      ],
      ...[`--socket=${join(folder, 's')}`, `--pid-file=${join(folder, 'pid')}`, ...quick],
      ...[`--init-file=${join(folder, 'init.sql')}`],
      ...[`--ssl-cert=${join(folder, 'cert.pem')}`, `--ssl-key=${join(folder, 'key.pem')}`],
    ],
    addUser: async (admin) => {
      const create = (user: string, password: string) =>
        admin
          .unsafe(`CREATE USER ${user}@'127.0.0.1' IDENTIFIED BY '${password.replaceAll("'", "''")}'`)
          .simple()
      await create(USER, PASSWORD)
      await admin.unsafe(`GRANT ALL ON \`pwpush%\`.* TO ${USER}@'127.0.0.1'`).simple()
      await admin
        .unsafe(`CREATE USER ${USER}@localhost IDENTIFIED BY '${PASSWORD.replaceAll("'", "''")}'`)
        .simple()
      await admin.unsafe(`GRANT ALL ON \`pwpush%\`.* TO ${USER}@localhost`).simple()
      await create('stranger', 'stranger')
    },
    newDatabase: (name, latin1) =>
      `CREATE DATABASE ${name} DEFAULT COLLATE ${latin1 ? 'latin1_german1_ci' : 'utf8mb4_bin'}`,
  }
}

type OtherUser = { prefix: string[]; uid: number; gid: number }

/** Returns the user for a server, because both servers refuse to run as root. */
function otherUser(engine: Engine): OtherUser {
  // Kill the server with the tests, however they end. PostgreSQL removes its shared memory unless it gets
  // SIGKILL.
  const prefix = ['setpriv', '--pdeathsig', engine === 'postgres' ? 'QUIT' : 'KILL']
  if (process.geteuid?.() !== 0) return { prefix, uid: -1, gid: -1 }
  const name = engine === 'postgres' ? 'postgres' : 'mysql'
  const id = (flag: string) => Number(Bun.spawnSync(['id', flag, name]).stdout.toString())
  const [uid, gid] = [id('-u'), id('-g')]
  return { prefix: [...prefix, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'], uid, gid }
}

function prepareFolder(folder: string, { uid, gid }: OtherUser): void {
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  writeFileSync(join(folder, 'password'), PASSWORD)
  writeFileSync(join(folder, 'cert.pem'), testCertificate)
  writeFileSync(join(folder, 'key.pem'), testKey)
  const login = `'root'@'127.0.0.1' IDENTIFIED BY '${PASSWORD.replaceAll("'", "''")}'`
  writeFileSync(
    join(folder, 'init.sql'),
    `CREATE OR REPLACE USER ${login};\nGRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n`,
  )
  for (const name of ['', 'data', 'password', 'cert.pem', 'key.pem', 'init.sql']) {
    if (name !== '' && name !== 'data') chmodSync(join(folder, name), 0o600)
    if (uid !== -1) chownSync(join(folder, name), uid, gid)
  }
}

const ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8', TZ: 'America/New_York' }

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'pipe'], env: ENV })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${out}\n${err}`)
}
