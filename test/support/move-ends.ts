// The ends of a move for tests: a folder or a database of PostgreSQL that can be set back to what it was, and moves between two.

import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Compared, compareStores } from '../../src/app/moving/compare.ts'
import { placeOf } from '../../src/app/moving/ends.ts'
import { moveStore } from '../../src/app/moving/move.ts'
import type { MovePlace, MovePorts, MoveReport, MoveWish } from '../../src/app/moving/wish.ts'
import { sealedSize } from '../../src/crypto/sealed-stream.ts'
import { databaseUrl } from '../../src/settings/database-parsers.ts'
import { connectTo, type TestPostgres } from './postgres.ts'
import { openTestStore, storePush } from './store.ts'

export type EndKind = 'folder' | 'postgres'

export type TestEnd = {
  place: MovePlace
  /** Of its node, where the files are. */
  dataDir: string
  /** Remembers the rows, marks and files as they are, under a name; undoes that. */
  save(name: string): Promise<void>
  setBack(name: string): Promise<void>
  remove(): Promise<void>
}

/** Rows and marks lie in the folder that also has the files. */
export function folderEnd(room: string, name: string): TestEnd {
  const dataDir = join(room, name)
  const savedAt = (saved: string) => `${dataDir}-${saved}`
  return {
    place: { kind: 'folder', path: dataDir },
    dataDir,
    save: async (saved) => {
      if (existsSync(dataDir)) cpSync(dataDir, savedAt(saved), { recursive: true, preserveTimestamps: true })
    },
    setBack: async (saved) => {
      rmSync(dataDir, { recursive: true, force: true })
      if (existsSync(savedAt(saved)))
        cpSync(savedAt(saved), dataDir, { recursive: true, preserveTimestamps: true })
    },
    remove: async () => undefined,
  }
}

/** Files stay as they are when the database is set back. */
export async function postgresEnd(
  server: Pick<TestPostgres, 'server' | 'newEmptyDatabase'>,
  room: string,
  name: string,
): Promise<TestEnd> {
  const { address } = await server.newEmptyDatabase()
  const parsed = databaseUrl(`${address}?sslmode=disable`)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const database = new URL(address).pathname.slice(1)
  const savedAt = (saved: string) => `${database}_${saved}`
  const names = new Set([database])
  const asAdmin = async (...statements: string[]) => {
    const { port, user, password } = server.server
    const sql = connectTo(`postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`)(1)
    try {
      for (const statement of statements) await sql.unsafe(statement.replace('OWNER', `OWNER ${user}`))
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
  const drop = (gone: string) => `DROP DATABASE IF EXISTS ${gone} WITH (FORCE)`
  /** A connection that was closed a moment ago may still be there. */
  const copy = (from: string, to: string) => [
    drop(to),
    `SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = '${from}'`,
    `CREATE DATABASE ${to} TEMPLATE ${from} OWNER`,
  ]
  return {
    place: { kind: 'postgres', address: parsed.value },
    dataDir: join(room, name),
    save: async (saved) => {
      names.add(savedAt(saved))
      await asAdmin(...copy(database, savedAt(saved)))
    },
    setBack: (saved) => asAdmin(...copy(savedAt(saved), database)),
    remove: () => asAdmin(...[...names].map(drop)),
  }
}

/** A folder with some of everything that a move has to keep. Nobody serves it. */
export async function makeSmallFolder(): Promise<{ dataDir: string; close(): void }> {
  const room = mkdtempSync(join(tmpdir(), 'oncebox-small-'))
  const dataDir = join(room, 'folder')
  mkdirSync(dataDir, { mode: 0o700 })
  const opened = await openTestStore({ dataDir })
  const ann = await opened.store.accounts.addAccount({
    ...{ email: 'ann@example.org', passwordHash: 'x', isAdmin: true },
  })
  for (let n = 0; n < 3; n += 1) {
    const file = { fileId: `file${n}`, size: 100, filename: Buffer.alloc(30), contentType: Buffer.alloc(20) }
    await opened.store.files.keepFile(
      file.fileId,
      (async function* () {
        yield Buffer.alloc(sealedSize(file.size), n)
      })(),
    )
    await storePush(opened, { ownerId: ann.id, kind: 'file' }, { files: [file] })
  }
  for (let n = 0; n < 20; n += 1) await storePush(opened)
  await opened.store.close()
  return { dataDir, close: () => rmSync(room, { recursive: true, force: true }) }
}

export type TestMove = {
  from: TestEnd
  to: TestEnd
  keyFile: string
  /** The step of a move after which it is broken off. */
  stopAfter?: string | undefined
  wish?: Partial<MoveWish>
  ports?: Partial<MovePorts>
}

/** Null when the move was broken off. */
export async function moveBetween({
  from,
  to,
  keyFile,
  stopAfter,
  wish,
  ports,
}: TestMove): Promise<MoveReport | null> {
  const dirOf = ({ place, dataDir }: TestEnd) => (place.kind === 'postgres' ? dataDir : null)
  const whole: MoveWish = {
    ...{ from: from.place, to: to.place, fromBucket: null, toBucket: null },
    ...{ fromDataDir: dirOf(from), toDataDir: dirOf(to), fromKeyFile: keyFile, keyFile, mode: 'move' },
    ...{ skipDamaged: false, destroySource: false, ...wish },
  }
  const stopped = new Error('stopped')
  const onStep = (step: string) => {
    if (step === stopAfter) throw stopped
  }
  return moveStore(whole, {
    now: () => 1_900_000_000_000,
    say: () => undefined,
    onProgress: () => undefined,
    confirm: async () => true,
    confirmDestruction: async () => true,
    onStep,
    ...ports,
  }).catch((cause: unknown) => {
    if (cause === stopped) return null
    throw cause
  })
}

/** How many rows each table has, and their digests. */
export async function digestOf({ place }: TestEnd): Promise<Compared> {
  const nothing = { dataDir: null, bucket: null, keyFile: null }
  const { reading } = placeOf(place, { remembering: nothing, onWarning: () => undefined })
  return reading(
    async (reader) => (await compareStores({ source: reader, target: reader }, () => undefined)).compared,
  )
}

export const filesOf = ({ dataDir }: TestEnd) => join(dataDir, 'files')
