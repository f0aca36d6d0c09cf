// The instance's numbered keys: the text of the key file, and the subkey for each purpose.

import { hkdfSync } from 'node:crypto'
import { randomKey } from './random.ts'

const KEY_BYTES = 32
const MAX_NUMBER = 255

export type InstanceKey = {
  /** 1 to 255; every sealed value names the key it was sealed under. */
  number: number
  /** 16 bytes that tell a key from another and say nothing about it. */
  verifier: Uint8Array
  lookup: Uint8Array
  wrap: Uint8Array
  owner: Uint8Array
  grants: Uint8Array
  addresses: Uint8Array
  idempotency: Uint8Array
  forms: Uint8Array
}

/** The first key seals, all of them open. */
export type Keyring = { sealing: InstanceKey; keys: readonly InstanceKey[] }

/** The text of a fresh key file with one key. */
export function newKeyFile(): string {
  return [
    '# The key of this Oncebox. Who has it and the data folder can read the names, notes and links',
    '# that accounts keep. Losing it loses every push. One key a line: a number, a space, 64 hex digits.',
    `1 ${Buffer.from(randomKey(KEY_BYTES)).toString('hex')}`,
    '',
  ].join('\n')
}

/** Reads a key file. Throws an Error that names the line, never its content. */
export function parseKeyFile(text: string): Keyring {
  const keys: InstanceKey[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue
    const key = parseKeyLine(line.trim())
    if (key === null)
      throw new Error(`line ${index + 1} is not "NUMBER 64-HEX-DIGITS", number 1 to ${MAX_NUMBER}`)
    if (keys.some(({ number }) => number === key.number)) throw new Error(`key ${key.number} is there twice`)
    keys.push(key)
  }
  const [sealing] = keys
  if (sealing === undefined) throw new Error('it holds no key')
  return { sealing, keys }
}

/** A verifier as people compare it: `3f2a-91c0-…`. */
export function fingerprint(verifier: Uint8Array): string {
  return Buffer.from(verifier.subarray(0, 8))
    .toString('hex')
    .replace(/(.{4})(?=.)/g, '$1-')
}

function parseKeyLine(line: string): InstanceKey | null {
  const match = /^(\d{1,3})\s+([0-9a-fA-F]{64})$/.exec(line)
  const number = Number(match?.[1])
  if (match?.[2] === undefined || number < 1 || number > MAX_NUMBER) return null
  return deriveKey(number, Buffer.from(match[2], 'hex'))
}

function deriveKey(number: number, key: Uint8Array): InstanceKey {
  const subkey = (purpose: string, length = KEY_BYTES) =>
    new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), `oncebox/1/${purpose}`, length))
  return {
    number,
    verifier: subkey('verifier', 16),
    lookup: subkey('lookup'),
    wrap: subkey('wrap-subkey'),
    owner: subkey('owner'),
    grants: subkey('grants'),
    addresses: subkey('addresses'),
    idempotency: subkey('idempotency'),
    forms: subkey('forms'),
  }
}
