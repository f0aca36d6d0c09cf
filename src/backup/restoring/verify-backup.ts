// `oncebox backup verify`: proves that a backup could be restored, in a folder that is gone afterwards.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Now } from '../../domain/time.ts'
import { removeUnfinished, unfinishedName } from '../../store/folder/new-folder.ts'
import { type Examined, examineUnpacked } from './examine.ts'
import { closeSource, type Opening } from './opening.ts'
import { explainFull, type Unpacked, unpackBackup } from './unpack.ts'

const PREFIX = 'oncebox-verify-'

export type VerifyWish = {
  /** Names the backup in messages. */
  file: string
  open: () => Promise<ReadableStream<Uint8Array>>
  keyFile: string | null
  /** A folder on a disk of this machine, which takes a copy of the database for as long as this runs. */
  tempDir: string
}

export type RestoringPorts = {
  now: Now
  opening: Opening
  /** Told often. */
  onProgress: (step: string, done: number, total: number) => void
}

export type VerifiedBackup = Pick<Unpacked, 'manifest' | 'seal' | 'hasAuthority'> &
  Pick<Examined, 'content' | 'key'> & { hasKey: boolean }

/** Throws `conflict` when the backup cannot be restored. */
export async function verifyBackup(wish: VerifyWish, ports: RestoringPorts): Promise<VerifiedBackup> {
  const { file, keyFile, tempDir } = wish
  removeUnfinished(tempDir, PREFIX)
  const source = await wish.open()
  const folder = mkdtempSync(join(tempDir, `${unfinishedName(PREFIX)}-`))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const { opening, onProgress } = ports
    const unpacked = await unpackBackup(source, {
      ...{ file, folder, place: tempDir, opening },
      onProgress: (done, total) => onProgress('reading', done, total),
    })
    const { store, ...examined } = await examineUnpacked(unpacked, {
      ...{ file, folder, keyFile },
      now: ports.now(),
      // From here on a killed process leaves nothing. Windows removes no open files.
      onOpened: () => process.platform !== 'win32' && remove(),
    })
    store.close()
    return { ...unpacked, ...examined, hasKey: unpacked.instanceKey !== null }
  } catch (cause) {
    throw explainFull(cause, tempDir)
  } finally {
    process.off('exit', remove)
    remove()
    await closeSource(source)
  }
}
