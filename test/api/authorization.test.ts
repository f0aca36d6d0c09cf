// Which words of an Authorization header may be an API token.

import { expect, test } from 'bun:test'
import { readAuthorization } from '../../src/api/authorization.ts'

const encode = (text: string) => Buffer.from(text).toString('base64')

test.each<[string | null, string[], boolean]>([
  [null, [], false],
  ['', [], false],
  ['   ', [], false],
  ['Bearer', [''], true],
  ['bearer  one ', ['one'], true],
  ['Token one', ['one'], true],
  ['Token token=one', ['one'], true],
  ['Token nonce="x",token = "one"', ['one'], true],
  ['Token token=""', [''], true],
  ['one', ['one'], false],
  ['Digest username="ann"', [], false],
  ['Basic', [], false],
  [`Basic ${encode('one')}`, ['one', encode('one')], false],
  [`Basic ${encode('ann:one:two')}`, ['ann', 'one:two', encode('ann:one:two')], false],
  [`Basic ${encode(':one')}`, ['one', encode(':one')], false],
])('in %p the possible tokens are %p', (header, words, isClaim) => {
  expect(readAuthorization(header)).toEqual({ words, isClaim })
})

test('an unencoded token in Basic is found, even if its bytes decode to a colon', () => {
  const word = encode('a:b').replaceAll('=', '')
  expect(readAuthorization(`Basic ${word}`).words).toContain(word)
})
