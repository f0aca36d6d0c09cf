// The instance's numbered keys: the text of the key file, and a subkey for each purpose.

import { deriveKey } from './hkdf.ts'
import { randomKey } from './random.ts'

const KEY_BYTES = 32
const VERIFIER_BYTES = 16
const MAX_NUMBER = 255

export type InstanceKey = {
  /** 1 to 255; every sealed value carries the number of its key. */
  number: number
  /** 16 bytes that identify the key and reveal nothing about it. */
  verifier: Uint8Array
  lookup: Uint8Array
  wrap: Uint8Array
  owner: Uint8Array
  grants: Uint8Array
  addresses: Uint8Array
  idempotency: Uint8Array
  pages: Uint8Array
  notices: Uint8Array
}

/** New values are sealed under the first key; each key opens the values sealed under it. */
export type Keyring = { sealing: InstanceKey; keys: readonly InstanceKey[] }

/** Returns the key of this number; null if the key file does not hold it. */
export function findKey({ keys }: Keyring, number: number): InstanceKey | null {
  return keys.find((key) => key.number === number) ?? null
}

/** Returns the text of a new key file with one key. */
export function newKeyFile(): string {
  return [
    '# The key of this Oncebox. Together with the data folder it opens the names, notes and links',
    '# that accounts keep. Without it every push is lost. One key a line: number, space, 64 hex digits.',
    newKeyLine(1),
    '',
  ].join('\n')
}

function newKeyLine(number: number): string {
  return `${number} ${randomKey(KEY_BYTES).toString('hex')}`
}

/**
 * Returns the text of a key file with a new key at the end, which can open but does not seal yet. Throws if
 * no number is free.
 */
export function addKey(text: string): { text: string; number: number } {
  const used = parseKeyFile(text).keys.map(({ number }) => number)
  const free = Array.from({ length: MAX_NUMBER }, (_, n) => ((Math.max(...used) + n) % MAX_NUMBER) + 1)
  const number = free.find((one) => !used.includes(one))
  if (number === undefined) throw new Error(`it already holds ${MAX_NUMBER} keys`)
  return { text: `${text.trimEnd()}\n${newKeyLine(number)}\n`, number }
}

/** Returns the text of a key file with the key of this number first, and without the given others. */
export function putKeyFirst(text: string, { first, dropped }: { first: number; dropped: readonly number[] }) {
  const lines = text.trimEnd().split('\n')
  const numberOf = (line: string) => parseKeyLine(line.trim())?.number ?? null
  const keys = lines.filter((line) => numberOf(line) !== null)
  const kept = keys.filter((line) => !dropped.includes(numberOf(line) ?? 0))
  const inOrder = [
    ...kept.filter((line) => numberOf(line) === first),
    ...kept.filter((line) => numberOf(line) !== first),
  ]
  return `${[...lines.filter((line) => numberOf(line) === null), ...inOrder].join('\n')}\n`
}

/** Reads a key file. Throws an Error that names the faulty line, never its content. */
export function parseKeyFile(text: string): Keyring {
  const keys: InstanceKey[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue
    const key = parseKeyLine(line.trim())
    if (key === null)
      throw new Error(`line ${index + 1} is not "NUMBER 64-HEX-DIGITS", number 1 to ${MAX_NUMBER}`)
    if (keys.some(({ number }) => number === key.number)) throw new Error(`key ${key.number} appears twice`)
    keys.push(key)
  }
  const [sealing] = keys
  if (sealing === undefined) throw new Error('it contains no key')
  return { sealing, keys }
}

/** Formats a verifier as people compare it: `3f2a-91c0-…`. */
export function fingerprint(verifier: Uint8Array): string {
  return Buffer.from(verifier.subarray(0, 8))
    .toString('hex')
    .replace(/(.{4})(?=.)/g, '$1-')
}

function parseKeyLine(line: string): InstanceKey | null {
  const match = /^(\d{1,3})\s+([0-9a-fA-F]{64})$/.exec(line)
  const number = Number(match?.[1])
  if (match?.[2] === undefined || number < 1 || number > MAX_NUMBER) return null
  return deriveSubkeys(number, Buffer.from(match[2], 'hex'))
}

function deriveSubkeys(number: number, key: Uint8Array): InstanceKey {
  const subkey = (purpose: string) => deriveKey({ material: [key], info: `oncebox/1/${purpose}` })
  return {
    number,
    verifier: subkey('verifier').subarray(0, VERIFIER_BYTES),
    lookup: subkey('lookup'),
    wrap: subkey('wrap-subkey'),
    owner: subkey('owner'),
    grants: subkey('grants'),
    addresses: subkey('addresses'),
    idempotency: subkey('idempotency'),
    pages: subkey('pages'),
    notices: subkey('notices'),
  }
}
