// The sealed columns of another server, opened with its master key or one of the keys before it.

import { deriveColumnKey, openLockboxField } from '../../crypto/lockbox.ts'
import { conflict } from '../../domain/errors.ts'
import type { Unsealed } from '../incoming.ts'

/** The published key that Password Pusher uses if none is set. */
export const PUBLISHED_KEY = '749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f'

const KEY = /^[0-9a-f]{64}$/i

type SealedColumn = { table: string; column: string }

export type Unseal = (place: SealedColumn, sealed: unknown) => Unsealed

/**
 * Reads the text of a key file: keys of 64 hex digits, separated by commas, blanks or lines. Names only the
 * file.
 */
export function parseMasterKeys(text: string, path: string): string[] {
  const keys = text
    .split(/[\s,]+/)
    .map((word) => word.replace(/^(?:PWPUSH_MASTER_KEY(?:_PREVIOUS)?=)?["']?([^"']*)["']?$/, '$1'))
    .filter((word) => word !== '')
  if (keys.length > 0 && keys.every((key) => KEY.test(key))) return keys.map((key) => key.toLowerCase())
  throw conflict(`The key file ${path} must hold a master key of 64 hex digits.`)
}

/** Tries each key; `onTried` receives the one that fitted, or null. */
export function createUnseal(
  masterKeys: readonly string[],
  onTried: (masterKey: string | null) => void,
): Unseal {
  const derived = new Map<string, { masterKey: string; key: Buffer }[]>()

  function keysOf(place: SealedColumn) {
    const name = `${place.table}.${place.column}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const keys = masterKeys.map((masterKey) => ({
      masterKey,
      key: deriveColumnKey(Buffer.from(masterKey, 'hex'), place),
    }))
    derived.set(name, keys)
    return keys
  }

  return (place, sealed) => {
    if (typeof sealed !== 'string' || sealed === '') return ''
    for (const { masterKey, key } of keysOf(place)) {
      const plain = openLockboxField(sealed, key)
      if (plain === null) continue
      onTried(masterKey)
      return plain.toString('utf8')
    }
    onTried(null)
    return null
  }
}
