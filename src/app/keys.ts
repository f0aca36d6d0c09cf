// The instance keys of a database: lists them with the data that still needs each, and rotates to a new key.

import { addKey, fingerprint, type Keyring, parseKeyFile, putKeyFirst } from '../crypto/keyring.ts'
import { openForAccount, sealForAccount } from '../crypto/sealed-field.ts'
import { lookupOf } from '../crypto/url-token.ts'
import { intactOrNull } from '../domain/damage.ts'
import type { DatabaseAddress } from '../domain/database-address.ts'
import { conflict } from '../domain/errors.ts'
import { openLabels, sealLabels } from '../pushes/labels.ts'
import { reseal as resealRequest } from '../requests/request-texts.ts'
import { atStep } from '../store/durable-steps.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import {
  makeKeyFile,
  readKeyFile,
  readKeyText,
  removeLeftKeys,
  replaceKeyFile,
} from '../store/folder/key-file.ts'
import { enterKeys, requireKeys } from '../store/instance.ts'
import { openFolderDatabase } from '../store/opening/folder-database.ts'
import type { CommandDatabase } from '../store/opening/opened-store.ts'
import { openServerDatabase } from '../store/opening/server-database.ts'
import {
  type KeyUse,
  type Linked,
  listKeyUses,
  type OwnedPush,
  relinkSome,
  resealSecrets,
} from '../store/pushes/rekeying.ts'
import { relinkRequests } from '../store/requests.ts'
import type { Step } from '../store/steps.ts'

export type KeyPlace = {
  dataDir: string
  /** The key file; null for the one in the data folder. */
  keyFile: string | null
  /** PostgreSQL; null for the database in the data folder. */
  address: DatabaseAddress | null
}

export type ShownKey = ReturnType<typeof present>[number]

/** Creates the key file that all nodes of one database share. Returns the fingerprint of its key. */
export function makeNewKey(path: string): string {
  return fingerprint(makeKeyFile(path).sealing.verifier)
}

/**
 * Returns the keys, the one that seals first. Works beside a running server. Throws `conflict` if the key
 * file does not fit the database.
 */
export async function showKeys(place: KeyPlace) {
  await using opened = await open(place, { isAlone: false })
  const { rows, file } = opened
  const keyring = readKeyFile(file)
  await rows.steps.read(() => requireKeys({ keyring, keyFile: file }))
  return { file, keys: present(keyring, await rows.steps.read(listKeyUses)) }
}

/**
 * Rotates to a new key: reseals the data of accounts under it, and removes keys that nothing needs. `removed`
 * lists those. Throws `conflict` while a server runs. Crash-safe: at every moment the key file can decrypt
 * the whole database, because the new key is first appended, and moved to the front once the rows name it.
 * The next run removes what a killed run has left.
 */
export async function rotateKey(place: KeyPlace) {
  await using opened = await open(place, { isAlone: true })
  const { rows, file } = opened
  const left = removeLeftKeys(dataFolder(place.dataDir), place.keyFile)
  if (left !== null) throw conflict(left)
  const text = readKeyText(file)
  await rows.steps.read(() => requireKeys({ keyring: parseKeyFile(text), keyFile: file }))
  const added = addKey(text)
  const keyring = parseKeyFile(putKeyFirst(added.text, { first: added.number, dropped: [] }))
  atStep('before the key file has the new key')
  replaceKeyFile(file, added.text)
  atStep('before the rows are sealed anew')
  const uses = await rows.alone(async (run) => {
    await run(enterKeys({ keyring, keyFile: file }))
    return run(resealAll(keyring))
  })
  atStep('before the new key is the first')
  const isNeeded = (number: number) => number === added.number || uses.some((use) => use.number === number)
  const unneeded = keyring.keys.filter(({ number }) => !isNeeded(number))
  const dropped = unneeded.map(({ number }) => number)
  replaceKeyFile(file, putKeyFirst(added.text, { first: added.number, dropped }))
  atStep('after the new key is the first')
  const keys = present(keyring, uses).filter(({ number }) => isNeeded(number))
  return { file, keys, removed: present({ ...keyring, keys: unneeded }, []) }
}

async function open({ dataDir, keyFile, address }: KeyPlace, { isAlone }: { isAlone: boolean }) {
  const rows: CommandDatabase =
    address === null
      ? await openFolderDatabase({ dataDir, isAlone })
      : await openServerDatabase({ address, isAlone })
  return { rows, file: keyFile ?? dataFolder(dataDir).key, [Symbol.asyncDispose]: rows.close }
}

/** `uses` list what needs a key. */
function present({ keys }: Pick<Keyring, 'keys'>, uses: readonly KeyUse[]) {
  return keys.map(({ number, verifier }) => ({
    number,
    fingerprint: fingerprint(verifier),
    uses: uses.filter((use) => use.number === number),
  }))
}

/** Reseals all rows except idempotency keys, whose answers can only be opened with the client's key. */
function* resealAll(keyring: Keyring): Step<KeyUse[]> {
  yield* resealSecrets((field, { accountId, sealed }) => {
    const secret = openForAccount(sealed, { accountId, field, keyring })
    return secret === null ? null : sealForAccount(secret, { accountId, field, keyring })
  })
  for (let after: number | null = 0; after !== null; )
    after = yield* relinkSome(after, (push) => reseal(push, keyring))
  yield* relinkRequests((request) => resealRequest(request, keyring))
  return yield* listKeyUses()
}

/**
 * Reseals the labels of a push. An expired push is also found by the new key, so it no longer needs the old
 * one. Returns null for damaged labels.
 */
function reseal({ isOver, ...push }: OwnedPush, keyring: Keyring): Linked | null {
  const { sealing } = keyring
  const { lookup: pushId, ownerId } = push
  const labels = intactOrNull(() =>
    openLabels(push, { keyring, pushId, ownerId, pushName: `push ${push.id}` }),
  )
  if (labels === null) return null
  const place = isOver
    ? { lookup: lookupOf(labels.urlToken, sealing.lookup), keyNumber: sealing.number }
    : { lookup: pushId, keyNumber: push.keyNumber }
  return { ...place, ...sealLabels(labels, { keyring, pushId: place.lookup, ownerId }) }
}
