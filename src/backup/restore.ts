// `oncebox restore`: creates a new data folder from a backup. In it, every live push is expired and every
// owned push has a new link.

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
  type Examination,
  examine,
  explainFull,
  type RestoringPorts,
  type VerifiedBackup,
} from './verify.ts'

/** `dataDir`: the new folder, missing or empty. */
type RestoreWish = BackupToRead & { dataDir: string }

export type Decision = { apiTokens: 'keep' | 'revoke' }

type RestorePorts = RestoringPorts & {
  /** Asks the operator. Throws to cancel the restore. */
  decide: (plan: RestorePlan) => Promise<Decision>
}

/** The facts shown to the operator before anything is restored. */
export type RestorePlan = VerifiedBackup & {
  now: number
  /**
   * When the server was last used before the backup. `isClockBehind`: whether this machine's clock is more
   * than a day before that.
   */
  lastUsed: number
  isClockBehind: boolean
}

export type RestoreReport = Awaited<ReturnType<typeof change>>

/**
 * Throws `conflict` if the backup cannot be restored or the data folder is not empty. Nothing is changed
 * then.
 */
export async function restoreBackup(wish: RestoreWish, ports: RestorePorts): Promise<RestoreReport> {
  const { dataDir } = wish
  requireVacant(dataDir)
  // Open before becomeOwner(): perhaps only the invoking user may read the backup.
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

type RestoreSource = { wish: RestoreWish; ports: RestorePorts; source: AsyncIterable<Uint8Array> }

async function fill(folder: NewFolder, { wish, ports, source }: RestoreSource): Promise<RestoreReport> {
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

/** Asks the operator, expires every live push, and revokes the API tokens if that was the answer. */
async function change(
  { facts, store, keyring, members }: Examination,
  { wish, ports }: Omit<RestoreSource, 'source'>,
) {
  const { decide, onProgress } = ports
  if (keyring === null) throw withoutKey(wish.file)
  const now = ports.now()
  const lastUsed = store.lastUsed()
  const decision = await decide({ ...facts, now, lastUsed, isClockBehind: lastUsed - now > DAY })
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
    content: facts.content,
    lost,
  }
}

/**
 * Creates the function that gives each push a new link, because backups contain none. Nothing can be opened
 * with it.
 */
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
    `${file} does not contain the instance key. Name the key file of its server with --key-file. Nothing was restored.`,
  )
}

/**
 * A setting of the former server that is not in the restored data folder: the operator has to set it again.
 */
type FormerSetting = {
  flag: string
  /** The value; null for a secret, because backups contain none. */
  value: string | null
}

/** Settings that describe the new machine, not the former one. */
const OF_THE_MACHINE = ['data-dir', 'key-file']
/** Flags meant for a single start of the former server. */
const OF_ONE_START = ['accept-clock', 'accept-move', 'accept-database']
const HIDDEN = '(hidden)'

/** Returns the settings that were set explicitly; [] if the text is not a settings list. */
export function changedSettings(text: string): FormerSetting[] {
  const { settings } = membersOf(text)
  const noted = Array.isArray(settings) ? settings.filter(isNotedSetting) : []
  return noted
    .filter(({ flag, from }) => from !== 'default' && /^[a-z][a-z0-9-]{0,63}$/.test(flag))
    .filter(({ flag }) => ![...OF_THE_MACHINE, ...OF_ONE_START].includes(flag))
    .map(({ flag, value }) => ({ flag, value: value === HIDDEN ? null : value }))
}
