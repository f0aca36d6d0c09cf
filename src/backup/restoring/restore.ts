// `oncebox restore`: makes a new data folder of a backup, in which everything that was live has expired.

import { writeFileSync } from 'node:fs'
import { version } from '../../../package.json'
import { visitFrom } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import { DAY } from '../../domain/time.ts'
import {
  type NewFolder,
  type OnStep,
  prepareNewFolder,
  requireVacant,
} from '../../store/folder/new-folder.ts'
import { becomeOwner } from '../../store/folder/ownership.ts'
import { type Examined, examineUnpacked } from './examine.ts'
import { changedSettings, type FormerSetting } from './former-settings.ts'
import { closeSource } from './opening.ts'
import { explainFull, type Unpacked, unpackBackup } from './unpack.ts'
import type { RestoringPorts } from './verify-backup.ts'

export type RestoreWish = {
  /** Names the backup in messages. */
  file: string
  open: () => Promise<ReadableStream<Uint8Array>>
  /** The new folder; missing or empty. */
  dataDir: string
  /** Where the key lies that the backup does not hold; null for the one in the backup. */
  keyFile: string | null
}

/** What a restore would do; nothing is done yet. */
export type RestorePlan = Pick<Unpacked, 'manifest' | 'seal' | 'hasAuthority'> &
  Pick<Examined, 'content' | 'key'> & {
    now: number
    /** Whether the clock of this machine is behind the last use of the server by more than a day. */
    isClockBehind: boolean
    /** When the server was last in use before the backup was made. */
    lastUsed: number
  }

export type Decision = { apiTokens: 'keep' | 'revoke' }

export type RestorePorts = RestoringPorts & {
  /** Asks the person; throws to restore nothing. */
  decide: (plan: RestorePlan) => Promise<Decision>
  onStep?: OnStep | undefined
}

export type Restored = Decision &
  Pick<Examined, 'content'> & { lost: number; settings: readonly FormerSetting[] }

/** Throws `conflict` when the backup cannot be restored or something is in its place already: then nothing was changed. */
export async function restoreBackup(wish: RestoreWish, ports: RestorePorts): Promise<Restored> {
  const { dataDir } = wish
  requireVacant(dataDir)
  // Opened as the user who runs this, who may be another one than the owner of the folder.
  const source = await wish.open()
  try {
    becomeOwner(dataDir)
    return await restoreInto(dataDir, { wish, ports, source })
  } finally {
    await closeSource(source)
  }
}

type Filling = { wish: RestoreWish; ports: RestorePorts; source: ReadableStream<Uint8Array> }

async function restoreInto(dataDir: string, filling: Filling): Promise<Restored> {
  const { ports } = filling
  const folder = prepareNewFolder(dataDir, ports.onStep ?? (() => undefined))
  try {
    return await fill(folder, filling)
  } catch (cause) {
    throw explainFull(cause, dataDir)
  } finally {
    folder.abandon()
  }
}

async function fill(folder: NewFolder, { wish, ports, source }: Filling): Promise<Restored> {
  const { file, keyFile } = wish
  const { opening, onProgress, onStep } = ports
  const unpacked = await unpackBackup(source, {
    ...{ file, folder: folder.unfinished.path, place: wish.dataDir, opening },
    onProgress: (done, total) => onProgress('reading', done, total),
  })
  onStep?.('after the backup was read')
  const now = ports.now()
  const { store, ...examined } = await examineUnpacked(unpacked, {
    ...{ file, folder: folder.unfinished.path, keyFile, now },
  })
  const restored = await change({ ...examined, store, unpacked }, { wish, ports, now }).finally(store.close)
  if (unpacked.instanceKey !== null && keyFile === null)
    writeFileSync(folder.unfinished.key, unpacked.instanceKey, { flag: 'wx', mode: 0o600 })
  folder.complete()
  return restored
}

type Changing = Pick<Filling, 'wish' | 'ports'> & { now: number }

/** Asks, and makes the database what a server finds at its first start. */
async function change(
  { store, unpacked, content, key }: Examined & { unpacked: Unpacked },
  { wish, ports, now }: Changing,
): Promise<Restored> {
  const { decide, onProgress, onStep } = ports
  if (key === 'none') throw withoutKey(wish.file)
  const lastUsed = store.lastUsed()
  const isClockBehind = lastUsed - now > DAY
  const decision = await decide({ ...unpacked, content, key, now, lastUsed, isClockBehind })
  onStep?.('before pushes are ended')
  const lost = await store.endLive({
    now: Math.max(ports.now(), lastUsed),
    visit: visitFrom({ ip: '', userAgent: `oncebox/${version} (restore)`, referrer: '' }),
    onProgress: (done, total) => onProgress('expiring', done, total),
  })
  if (decision.apiTokens === 'revoke') store.revokeApiTokens()
  onStep?.('after pushes were ended')
  return { ...decision, settings: changedSettings(unpacked.settings), content, lost }
}

function withoutKey(file: string): DomainError {
  return new DomainError(
    'conflict',
    `The instance key is not in ${file}: name the key file that the server used with --key-file. Nothing was restored.`,
  )
}
