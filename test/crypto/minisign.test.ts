// Signatures of minisign, compared with those of the tool itself.

import { describe, expect, test } from 'bun:test'
import {
  hashForSigning,
  parsePublicKey,
  parsePublicKeys,
  parseSignature,
  verifySignature,
} from '../../src/crypto/minisign.ts'
import { createSigner } from '../support/release-signing.ts'

const { publicKey, signBytes } = createSigner()
const TEXT = 'the bytes of a program'
const MINISIG = signBytes(Buffer.from(TEXT), 'oncebox 3.1.0 linux-x64')

function verdictOf(minisig: string, text = TEXT, keys = publicKey) {
  const signature = parseSignature(minisig)
  return (
    signature && verifySignature(hashForSigning(Buffer.from(text)), signature, parsePublicKeys(keys) ?? [])
  )
}

test('a signature made by the tool itself is valid', async () => {
  // minisign -S of the file "hello\n".
  const key = 'RWRKcsm8jGknZTLDKhyWIVb3RslMI+jbYc6mUgDHjnu2OUyu1ynIFdc/'
  const minisig = [
    'untrusted comment: signature from minisign secret key',
    'RURKcsm8jGknZT0RAnDSJCcFaWVgJmLEVk1YbHxpm5TeutybyBjOuu7e1PfxncxN9MhhYvZ38kQIUvRMxIB1JqsWSf62a7LAPgc=',
    'trusted comment: oncebox 3.1.0 linux-x64',
    'rHciQMVgLkhWcKAwOm0L323Llgb4R1Xfcm3m+8Yg1Avv4lhzlQFEGbnG+dWUrRq2C5ioZE3CgqwpDVi8hXRlDg==',
  ].join('\n')
  expect(await verdictOf(minisig, 'hello\n', key)).toBe('good')
})

test('a valid signature returns its comment', async () => {
  expect(await verdictOf(MINISIG)).toBe('good')
  expect(await verdictOf(MINISIG.replaceAll('\n', '\r\n'))).toBe('good')
  expect(parseSignature(MINISIG)?.comment).toBe('oncebox 3.1.0 linux-x64')
})

test('other bytes, another comment and another key have different verdicts', async () => {
  expect(await verdictOf(MINISIG, `${TEXT}!`)).toBe('wrong file')
  expect(await verdictOf(MINISIG.replace('3.1.0', '9.9.9'))).toBe('wrong comment')
  expect(await verdictOf(MINISIG, TEXT, createSigner().publicKey)).toBe('unknown key')
  const overall = signBytes(Buffer.from('other'), 'oncebox 3.1.0 linux-x64').split('\n')[3] ?? ''
  const mixed = MINISIG.split('\n').with(3, overall).join('\n')
  expect(await verdictOf(mixed)).toBe('wrong comment')
})

describe('texts that are no signature are refused', () => {
  const lines = MINISIG.split('\n')
  const old = Buffer.from(lines[1] ?? '', 'base64')
  old.write('Ed')
  test.each<[string, string]>([
    ['empty', ''],
    ['cut off', lines.slice(0, 3).join('\n')],
    ['cut off within a line', MINISIG.slice(0, -10)],
    ['without a comment', lines.with(2, 'comment: x').join('\n')],
    ['with more lines', `${MINISIG}more\n`],
    ['of the form that is not prehashed', lines.with(1, old.toString('base64')).join('\n')],
    ['with other characters', lines.with(1, ` ${lines[1]}`).join('\n')],
  ])('%s', (_, text) => {
    expect(parseSignature(text)).toBeNull()
  })
})

test('keys are read one by one, from files of minisign, and from lists with comments', () => {
  expect(parsePublicKey(publicKey)?.text).toBe(publicKey)
  expect(parsePublicKeys(`untrusted comment: minisign public key 1\n${publicKey}\n`)).toHaveLength(1)
  expect(parsePublicKeys(`# one\n${publicKey}\n\n# two\n${createSigner().publicKey}\n`)).toHaveLength(2)
  expect(parsePublicKeys('# none\n')).toEqual([])
  expect(parsePublicKeys('RWnonsense')).toBeNull()
  expect(parsePublicKeys(publicKey.replace(/^../, 'AA'))).toBeNull()
})
