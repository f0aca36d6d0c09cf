// What nodes remember in a bucket: only they can sign it, for one place and one instance.

import { expect, test } from 'bun:test'
import { type Keyring, newKeyFile, parseKeyFile } from '../../../src/crypto/keyring.ts'
import { parseWitness, presentWitness, type SavedWitness } from '../../../src/store/witness/saved-witness.ts'
import { parseSigned, presentSigned } from '../../../src/store/witness/signed-witness.ts'

const line = (number: number) => newKeyFile().trim().split('\n').at(-1)?.replace(/^1/, String(number)) ?? ''
const [ONE, TWO] = [line(1), line(2)]
const ring = (...lines: string[]) => parseKeyFile(lines.join('\n'))
const PLACE = { bucket: 'boxes', prefix: 'office/' }
const WITNESS: SavedWitness = {
  tag: '6c3f',
  beats: 7,
  restoredAt: 0,
  place: '7312/16385/16392/00000001',
  operations: ['ab'.repeat(16)],
  isFinal: false,
  savedAt: 1_790_000_000_000,
  node: 'cd'.repeat(16),
}

const sign = (keyring: Keyring, witness = WITNESS) => presentSigned(witness, { keyring, place: PLACE })
const read = (text: string, keyring: Keyring, { tag = '6c3f', place = PLACE } = {}) =>
  parseSigned(text, tag, { keyring, place })

test('what a node has signed is read by all nodes with its key', () => {
  const keyring = ring(ONE)
  expect(read(sign(keyring), keyring)).toEqual({ witness: WITNESS })
  const unknown = { ...WITNESS, place: null, node: null, operations: [] }
  expect(read(sign(keyring, unknown), keyring)).toEqual({ witness: unknown })
})

test('a key can be added, put first and removed: the first one signs, and every one is believed', () => {
  const [former, both, turned, last] = [ring(ONE), ring(ONE, TWO), ring(TWO, ONE), ring(TWO)]
  expect(read(sign(former), both)).toEqual({ witness: WITNESS })
  expect(read(sign(both), former)).toEqual({ witness: WITNESS })
  expect(read(sign(turned), both)).toEqual({ witness: WITNESS })
  expect(read(sign(both), turned)).toEqual({ witness: WITNESS })
  expect(read(sign(turned), last)).toEqual({ witness: WITNESS })
  expect(read(sign(turned), former)).toEqual({ key: 2 })
})

test('nothing that was changed, moved or made by others is believed', () => {
  const keyring = ring(ONE)
  const text = sign(keyring)
  const signed = JSON.parse(text)
  const change = (changes: Partial<SavedWitness>) =>
    JSON.stringify({ ...signed, witness: { ...WITNESS, ...changes } })
  const changed: Partial<SavedWitness>[] = [
    { beats: 8 },
    { restoredAt: 1 },
    { place: null },
    { operations: [] },
    { isFinal: true },
    { savedAt: 1 },
    { node: null },
  ]
  for (const changes of changed) expect(read(change(changes), keyring)).toEqual({ key: null })
  expect(read(text, ring(line(1)))).toEqual({ key: null })
  expect(read(text, keyring, { tag: 'another' })).toEqual({ key: null })
  expect(read(text, keyring, { place: { ...PLACE, prefix: 'trial/' } })).toEqual({ key: null })
  for (const other of [
    '',
    '{',
    'null',
    '[]',
    JSON.stringify(WITNESS),
    JSON.stringify({ ...signed, mac: '' }),
    JSON.stringify({ ...signed, mac: null }),
    JSON.stringify({ ...signed, key: '1' }),
    JSON.stringify({ ...signed, witness: null }),
  ])
    expect(read(other, keyring)).toEqual({ key: null })
})

test('numbers and texts that no node writes are refused, also in a data folder', () => {
  expect(parseWitness(presentWitness(WITNESS))).toMatchObject(WITNESS)
  const wrong: Record<string, unknown>[] = [
    ...['beats', 'restoredAt', 'savedAt'].flatMap((name) =>
      [-1, 0.5, 2 ** 52, Number.MAX_SAFE_INTEGER, '7', null].map((value) => ({ [name]: value })),
    ),
    { tag: 'x'.repeat(257) },
    { place: 'x'.repeat(257) },
    { operations: Array(257).fill('ab'.repeat(16)) },
    { operations: ['AB'] },
    { node: [['cd'.repeat(16)]] },
    { isFinal: 1 },
  ]
  for (const changes of wrong) expect(parseWitness(JSON.stringify({ ...WITNESS, ...changes }))).toBeNull()
})
