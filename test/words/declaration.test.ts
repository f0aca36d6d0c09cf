// The declaration from which editors show the English text of a word key.

import { expect, test } from 'bun:test'
import { DECLARATION, declarationOf } from '../../scripts/words.ts'
import en from '../../src/words/en.json'

test('types/english.d.ts has every English text; `npm run words` updates it', async () => {
  expect(await Bun.file(DECLARATION).text()).toBe(declarationOf(en))
})
