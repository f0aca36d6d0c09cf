// A room for moves: a small source with files in a folder of its own, and moves from and to whatever paths lead into the room.

import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { moveStore } from '../../src/app/moving/move.ts'
import type { MovePlace, MovePorts, MoveReport, MoveWish } from '../../src/app/moving/wish.ts'
import { sealedSize } from '../../src/crypto/sealed-stream.ts'
import { databaseUrl } from '../../src/settings/database-parsers.ts'
import type { TestPostgres } from './postgres.ts'
import { openTestStore, storePush, type TestStore } from './store.ts'

export const FILES = ['one-file', 'two-file', 'third-file']

/** `said`: all warnings so far. */
export type MoveRoom = {
  at(name: string): string
  said: string[]
  move(wish: Partial<MoveWish>, ports?: Partial<MovePorts>): Promise<MoveReport>
  /** Serves a folder for a moment. */
  serve(name: string): Promise<void>
  remove(): void
}

export const folder = (path: string): MovePlace => ({ kind: 'folder', path })

/** An empty database. */
export async function newDatabase(server: Pick<TestPostgres, 'newEmptyDatabase'>): Promise<MovePlace> {
  const { address } = await server.newEmptyDatabase()
  const parsed = databaseUrl(`${address}?sslmode=disable`)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return { kind: 'postgres', address: parsed.value }
}

/** A move without buckets and flags, and one that is confirmed whenever it asks. */
export function moveWith(
  wish: Pick<MoveWish, 'from' | 'to'> & Partial<MoveWish>,
  ports: Pick<MovePorts, 'now' | 'say'> & Partial<MovePorts>,
): Promise<MoveReport> {
  return moveStore(
    {
      ...{ fromBucket: null, toBucket: null, fromDataDir: null, toDataDir: null, fromKeyFile: null },
      ...{ keyFile: null, mode: 'move', skipDamaged: false, destroySource: false, ...wish },
    },
    {
      onProgress: () => undefined,
      confirm: async () => true,
      confirmDestruction: async () => true,
      ...ports,
    },
  )
}

/** The source is in the folder `from`. Nobody serves it. */
export async function openMoveRoom(): Promise<MoveRoom> {
  const room = mkdtempSync(join(tmpdir(), 'oncebox-aliases-'))
  const at = (name: string) => join(room, name)
  const said: string[] = []
  mkdirSync(at('from'), { mode: 0o700 })
  const opened = await openTestStore({ dataDir: at('from') })
  for (const [n, fileId] of FILES.entries()) await storeFile(opened, fileId, n)
  for (let n = 0; n < 5; n += 1) await storePush(opened)
  await opened.store.close()

  const serve = async (name: string) => (await openTestStore({ dataDir: at(name) })).store.close()
  const move = (wish: Partial<MoveWish>, ports: Partial<MovePorts> = {}) =>
    moveWith(
      { from: folder(at('from')), to: folder(at('to')), ...wish },
      { now: opened.clock.now, say: (line) => said.push(line), ...ports },
    )
  return { at, said, move, serve, remove: () => rmSync(room, { recursive: true, force: true }) }
}

async function storeFile(opened: TestStore, fileId: string, n: number): Promise<void> {
  const size = 100 + n
  async function* bytes() {
    yield Buffer.alloc(sealedSize(size), n)
  }
  await opened.store.files.keepFile(fileId, bytes())
  const file = { fileId, size, filename: Buffer.alloc(30), contentType: Buffer.alloc(20) }
  await storePush(opened, { kind: 'file' }, { files: [file] })
}

/** The sealed files in a folder, in the order of `FILES`. */
export function filesIn(dataDir: string): string[] {
  const names = readdirSync(join(dataDir, 'files'), { recursive: true }).map(String)
  return FILES.filter((id) => names.some((name) => name.endsWith(id)))
}

/** Whether the rows of a folder can be read, and name pushes. */
export function holdsRows(dataDir: string): boolean {
  const database = new Database(join(dataDir, 'oncebox.db'), { readwrite: true, create: false })
  try {
    return database.query('SELECT count(*) AS n FROM pushes').values()[0]?.[0] !== 0
  } finally {
    database.close()
  }
}
