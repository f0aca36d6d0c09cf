// Searches bytes that must not open pushes for whatever could: for secrets that were seen in the database of
// a live server, and by trying every position with the links, the passphrases and the instance key.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { deriveKey } from '../../src/crypto/hkdf.ts'
import type { InstanceKey } from '../../src/crypto/keyring.ts'
import { derivePassphraseKey } from '../../src/crypto/passphrase.ts'
import { openField } from '../../src/crypto/sealed-field.ts'
import { lookupOf } from '../../src/crypto/url-token.ts'

type SecretsRow = {
  pushId: number
  salt: Uint8Array
  passphraseSalt: Uint8Array | null
  payload: Uint8Array
  wrappedKey: Uint8Array | null
}

export type Needle = { name: string; bytes: Uint8Array }

const SECRETS = `
  SELECT push_id AS pushId, salt, passphrase_salt AS passphraseSalt, payload,
    (SELECT wrapped_key FROM push_keys WHERE slot = key_slot) AS wrappedKey
  FROM push_secrets WHERE push_id > ? ORDER BY push_id`

/** Collects the secrets of pushes from the database of a server that runs, before they vanish. */
export function createHarvest(dataDir: string) {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  database.run('PRAGMA busy_timeout = 5000')
  const read = database.prepare<SecretsRow, [number]>(SECRETS)
  const needles: Needle[] = []
  let last = 0

  /** Call it after a create was acknowledged. */
  function take(): void {
    for (const { pushId, ...secrets } of read.all(last)) {
      last = pushId
      for (const [name, bytes] of Object.entries(secrets))
        if (bytes !== null) needles.push({ name: `${name} of push ${pushId}`, bytes: Buffer.from(bytes) })
    }
  }

  /** The pushes that are live now. */
  function live(): number[] {
    return read.all(0).map(({ pushId }) => pushId)
  }

  return { take, live, needles, close: () => database.close() }
}

const WRAPPED_BYTES = 62
const SALT_BYTES = 16
/** The size of stored argon2id parameters and salt in tests: format, memory, passes, lanes, salt. */
const PASSPHRASE_BYTES = 23

export type Link = { urlToken: string; passphrase: string | null }

/**
 * Returns the links whose data key can be decrypted from two positions in the bytes, tried as wrapped key and
 * as salt.
 */
export async function findOpenings(
  bytes: Buffer,
  { instanceKey, links }: { instanceKey: InstanceKey; links: readonly Link[] },
): Promise<string[]> {
  const wrapped = placesOf(bytes, WRAPPED_BYTES, (at) => isSealed(bytes, at, instanceKey.number))
  const salts = placesOf(bytes, SALT_BYTES, (at) => isRandom(bytes, at))
  const passphraseSalts = placesOf(bytes, PASSPHRASE_BYTES, (at) => isPassphraseSalt(bytes, at))
  const found: string[] = []
  for (const { urlToken, passphrase } of links) {
    const place = { subject: lookupOf(urlToken, instanceKey.lookup), field: 'key' }
    const passphraseKeys =
      passphrase === null
        ? ['']
        : await Promise.all(passphraseSalts.map((salt) => derivePassphraseKey(passphrase, salt)))
    const opens = passphraseKeys.some((passphraseKey) =>
      salts.some((salt) => {
        const material = [instanceKey.wrap, urlToken, passphraseKey]
        const key = { key: deriveKey({ material, salt, info: 'oncebox/1/wrap' }), number: instanceKey.number }
        return wrapped.some((value) => openField(value, key, place) !== null)
      }),
    )
    if (opens) found.push(urlToken)
  }
  return found
}

function placesOf(bytes: Buffer, length: number, isIt: (at: number) => boolean): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at + length <= bytes.length; at += 1)
    if (isIt(at)) found.push(bytes.subarray(at, at + length))
  return found
}

/** Random bytes follow the number of the key. */
function isSealed(bytes: Buffer, at: number, number: number): boolean {
  return bytes[at] === 1 && bytes[at + 1] === number && isRandom(bytes, at + 2)
}

/** The place at which each byte value was last seen. */
const met = new Float64Array(256)
let places = 0

/** Skips texts, zeros and numbers: a random salt looks like one of them less than once in a million. */
function isRandom(bytes: Buffer, at: number): boolean {
  places += 1
  let [printable, different] = [0, 0]
  for (let next = at; next < at + SALT_BYTES; next += 1) {
    const byte = bytes[next] ?? 0
    if (byte >= 0x20 && byte < 0x7f) printable += 1
    if (met[byte] !== places) different += 1
    met[byte] = places
  }
  return printable < SALT_BYTES && different > 10
}

function isPassphraseSalt(bytes: Buffer, at: number): boolean {
  return (
    bytes[at] === 1 && bytes[at + 5] === 2 && bytes[at + 6] === 1 && bytes.readUInt32BE(at + 1) === 19 * 1024
  )
}
