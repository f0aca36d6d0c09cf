// Data of earlier versions of Oncebox: a folder and its backup, made by the executable of that version.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createTestClock } from './instance.ts'

const FIXTURES = resolve(import.meta.dir, '../fixtures/earlier-versions')

/** The tokens of everything in the folder. All pushes and the request end on 2027-02-26. */
export type EarlierTokens = {
  /** A token of ann@example.org, an administrator, who owns all pushes but the anonymous one. */
  apiToken: string
  /** The push "of 3.0.0", with the name "VPN for Bob" and the note "a note": opened once of three times. */
  named: string
  /** The push "with a passphrase", whose passphrase is "open sesame". */
  locked: string
  /** The push with the file note.txt, "a file of 3.0.0". */
  file: string
  /** The push "anonymous", which has no owner. */
  anonymous: string
  /** The request "Router", with one answer of three. */
  request: string
  /** The push "router: Kx9", which answered the request and was not opened. */
  received: string
}

/**
 * Unpacks the data of a version, such as `3.0.0`. Start it with `--accept-move`, because the folder was
 * served elsewhere.
 */
export async function unpackEarlier(version: string) {
  const room = mkdtempSync(join(tmpdir(), 'oncebox-earlier-'))
  const archive = new Bun.Archive(await Bun.file(join(FIXTURES, `${version}.tar.gz`)).bytes())
  // Bun.Archive does not restore the modes of files, which are private here.
  const mask = process.umask(0o077)
  await archive.extract(room).finally(() => process.umask(mask))
  return {
    room,
    dataDir: join(room, 'data'),
    backup: join(room, 'backup.tar'),
    tokens: (await Bun.file(join(room, 'tokens.json')).json()) as EarlierTokens,
    /** A day after the folder was made. */
    clock: createTestClock(Date.parse('2026-11-29T12:00:00.000Z')),
    remove: () => rmSync(room, { recursive: true, force: true }),
  }
}
