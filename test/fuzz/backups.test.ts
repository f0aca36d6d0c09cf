// Backups with altered bytes: a change is either noticed or affects nothing that is read.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { asyncPieces } from '../../src/backup/streams.ts'
import { verifyBackup } from '../../src/backup/verify.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { START, startInstance } from '../support/instance.ts'
import { backupOf } from '../support/packed-backup.ts'

const TRIES = 300

const room = mkdtempSync(join(tmpdir(), 'oncebox-fuzz-backups-'))
const temporary = join(room, 'temporary')
let plain: Buffer
let sealed: Buffer
let identity: string

beforeAll(async () => {
  mkdirSync(temporary)
  const dataDir = join(room, 'data')
  const instance = await startInstance({ dataDir })
  const token = await instance.addAccount('ann@example.org')
  for (let n = 0; n < 5; n += 1)
    await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x', name: `${n}` } }, token })
  await instance.stop()
  identity = await generateX25519Identity()
  plain = await backupOf(dataDir)
  sealed = await backupOf(dataDir, { seal: { recipients: [await identityToRecipient(identity)] } })
})
afterAll(() => rmSync(room, { recursive: true, force: true }))

/** Resolves to the content of a backup; null if it is refused. Any other failure is a bug. */
async function read(bytes: Uint8Array, identities: string[]): Promise<string | null> {
  const credentials = {
    identities: identities.map((text) => ({ path: 'key.txt', text })),
    passphrase: null,
    askPassphrase: async () => '',
  }
  const wish = { file: 'b.tar', open: async () => asyncPieces(bytes), keyFile: null, tempDir: temporary }
  try {
    return JSON.stringify(
      await verifyBackup(wish, { now: () => START, credentials, onProgress: () => undefined }),
    )
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause
    return null
  } finally {
    expect(readdirSync(temporary)).toEqual([])
  }
}

/** Seeded pseudo-random numbers for tests; not for secrets. */
function createNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function alter(bytes: Buffer, next: (below: number) => number): Buffer {
  const altered = Buffer.from(bytes)
  switch (next(4)) {
    case 0:
      return altered.subarray(0, next(bytes.length))
    case 1: {
      const at = next(bytes.length)
      return Buffer.concat([
        altered.subarray(0, at),
        altered.subarray(Math.min(bytes.length, at + 1 + next(1_000))),
      ])
    }
    case 2: {
      const at = next(bytes.length)
      return Buffer.concat([
        altered.subarray(0, at),
        Buffer.alloc(1 + next(1_000), next(256)),
        altered.subarray(at),
      ])
    }
    default: {
      // The beginning holds the manifest and the age headers.
      const at = next(2) === 0 ? next(bytes.length) : next(3_000)
      altered[at] = (altered[at] ?? 0) ^ (1 + next(255))
      return altered
    }
  }
}

test.each([
  ['a plain backup', () => ({ bytes: plain, identities: [] as string[] })],
  ['an encrypted backup', () => ({ bytes: sealed, identities: [identity] })],
])(
  'altered copies of %s are refused, or read as the original',
  async (_, make) => {
    const { bytes, identities } = make()
    const whole = await read(bytes, identities)
    expect(whole).not.toBeNull()
    const next = createNumbers(20_261_122)
    let refused = 0
    for (let n = 0; n < TRIES; n += 1) {
      const found = await read(alter(bytes, next), identities)
      if (found === null) refused += 1
      else expect({ n, found }).toEqual({ n, found: whole ?? '' })
    }
    expect(refused).toBeGreaterThan(TRIES / 2)
  },
  600_000,
)
