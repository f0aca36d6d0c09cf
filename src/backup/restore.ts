// `oncebox restore`: makes a new data folder of a backup. Everything that was live has expired in it, and the
// pushes of accounts have fresh links.

import { writeFileSync } from 'node:fs'
import { version } from '../../package.json'
import type { Keyring } from '../crypto/keyring.ts'
import { lookupOf, newUrlToken } from '../crypto/url-token.ts'
import { visitFrom } from '../domain/audit.ts'
import { intactOrNull } from '../domain/damage.ts'
import { conflict, type DomainError } from '../domain/errors.ts'
import { DAY } from '../domain/time.ts'
import { openTexts, sealLabels } from '../pushes/labels.ts'
import { atStep } from '../store/durable-steps.ts'
import { type NewFolder, prepareNewFolder, requireVacant } from '../store/folder/new-folder.ts'
import { isNotedSetting, membersOf } from '../store/folder/notes.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import type { EndLive } from '../store/opening/restored-store.ts'
import {
  type BackupToRead,
  type Examined,
  examine,
  explainFull,
  type RestoringPorts,
  type VerifiedBackup,
} from './verify.ts'

/** `dataDir`: the new folder, missing or empty. */
export type RestoreWish = BackupToRead & { dataDir: string }

export type Decision = { apiTokens: 'keep' | 'revoke' }

export type RestorePorts = RestoringPorts & {
  /** Asks the person; throws to restore nothing. */
  decide: (plan: RestorePlan) => Promise<Decision>
}

/** What a restore would do; nothing is done yet. */
export type RestorePlan = VerifiedBackup & {
  now: number
  /**
   * When the server was last in use before the backup was made, and whether the clock here is behind that by
   * more than a day.
   */
  lastUsed: number
  isClockBehind: boolean
}

export type Restored = Awaited<ReturnType<typeof change>>

/**
 * Throws `conflict` when the backup cannot be restored or something is in its place already: then nothing was
 * changed.
 */
export async function restoreBackup(wish: RestoreWish, ports: RestorePorts): Promise<Restored> {
  const { dataDir } = wish
  requireVacant(dataDir)
  // Opened as the user who runs this, who may be another one than the owner of the folder.
  const source = await wish.open()
  try {
    becomeOwner(dataDir)
    using closing = new DisposableStack()
    const folder = prepareNewFolder(dataDir)
    closing.defer(folder.abandon)
    return await fill(folder, { wish, ports, source })
  } catch (cause) {
    throw explainFull(cause, dataDir)
  }
}

type Filling = { wish: RestoreWish; ports: RestorePorts; source: AsyncIterable<Uint8Array> }

async function fill(folder: NewFolder, { wish, ports, source }: Filling): Promise<Restored> {
  const { path, key, tlsAuthority } = folder.unfinished
  const backup = await examine(source, { ...wish, ...ports, folder: path, place: wish.dataDir })
  atStep('after the backup was read')
  const restored = await change(backup, { wish, ports }).finally(backup.store.close)
  const { 'instance.key': ownKey, 'tls-authority.pem': authority } = Object.fromEntries(backup.members)
  const options = { flag: 'wx', mode: 0o600 }
  if (ownKey !== undefined && wish.keyFile === null) writeFileSync(key, ownKey, options)
  if (authority !== undefined) writeFileSync(tlsAuthority, authority, options)
  folder.complete()
  return restored
}

/** Asks, and makes the database what a server finds at its first start. */
async function change({ told, store, keyring, members }: Examined, { wish, ports }: Omit<Filling, 'source'>) {
  const { decide, onProgress } = ports
  if (keyring === null) throw withoutKey(wish.file)
  const now = ports.now()
  const lastUsed = store.lastUsed()
  const decision = await decide({ ...told, now, lastUsed, isClockBehind: lastUsed - now > DAY })
  atStep('before pushes are ended')
  const lost = await store.endLive({
    now: Math.max(ports.now(), lastUsed),
    visit: visitFrom({ ip: '', userAgent: `oncebox/${version} (restore)`, referrer: '' }),
    relink: createRelink(keyring),
    onProgress: (done, total) => onProgress('expiring', done, total),
  })
  if (decision.apiTokens === 'revoke') store.revokeApiTokens()
  atStep('after pushes were ended')
  return {
    ...decision,
    settings: changedSettings(String(members.get('settings.json'))),
    content: told.content,
    lost,
  }
}

/** No link is in a backup, so each push gets a fresh one, which opens nothing. */
function createRelink(keyring: Keyring): EndLive['relink'] {
  const { sealing } = keyring
  return ({ lookup: pushId, ownerId, name, note, request }) => {
    const urlToken = newUrlToken()
    const lookup = lookupOf(urlToken, sealing.lookup)
    const opened = intactOrNull(() => openTexts({ name, note }, { keyring, pushId, ownerId, pushName: '' }))
    const texts = opened ?? { name: '', note: '' }
    const labels = sealLabels(
      { urlToken, ...texts, request: request && '' },
      { keyring, pushId: lookup, ownerId },
    )
    return { lookup, keyNumber: sealing.number, ...labels }
  }
}

function withoutKey(file: string): DomainError {
  return conflict(
    `The instance key is not in ${file}: name the key file that the server used with --key-file. Nothing was restored.`,
  )
}

/**
 * A setting that was in effect when the backup was made, and that the restored server does not have by
 * itself.
 */
export type FormerSetting = {
  flag: string
  /** Null for a secret, which is in no backup. */
  value: string | null
}

/** These are where the restored folder is, and not where the former one was. */
const OF_THE_PLACE = ['data-dir', 'key-file']
/** Meant for one start of the former server. */
const OF_ONE_START = ['accept-clock', 'accept-move', 'accept-database']
const HIDDEN = '(hidden)'

/** Those that somebody gave. Anything but such a list of settings is read as none. */
export function changedSettings(text: string): FormerSetting[] {
  const { settings } = membersOf(text)
  const noted = Array.isArray(settings) ? settings.filter(isNotedSetting) : []
  return noted
    .filter(({ flag, from }) => from !== 'default' && /^[a-z][a-z0-9-]{0,63}$/.test(flag))
    .filter(({ flag }) => ![...OF_THE_PLACE, ...OF_ONE_START].includes(flag))
    .map(({ flag, value }) => ({ flag, value: value === HIDDEN ? null : value }))
}
