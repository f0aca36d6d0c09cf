// The create form during an outage of the store or the file store: it is shown again with everything typed,
// and creates one push.

import { describe, expect, test } from 'bun:test'
import type { OutageCode } from '../../../src/domain/errors.ts'
import { wordsOf } from '../../../src/words/words.ts'
import type { Fails } from '../../support/failing-store.ts'
import { elementsIn, fieldsOf, formOf } from '../../support/page-facts.ts'
import type { People } from '../../support/people.ts'
import { BOUNDARY, multipart } from '../multipart.ts'
import { away, NOTHING, OUTAGES, useOutages } from './outages.ts'

const SECRET = 'typed secret <"&\'>'
const { say } = wordsOf('en')
const at = useOutages()

type Visitor = Pick<People, 'get'>

describe('the create form', () => {
  const FILE = { name: 'push[files][]', content: 'x'.repeat(300_000), disposition: 'filename="a.txt"' }
  const LAST = { 'push[name]': SECRET, 'push[note]': 'behind the files', 'push[passphrase]': SECRET }

  async function sendWithFile(visitor: Visitor, fields: Record<string, string>) {
    const parts = Object.entries(fields).map(([name, content]) => ({ name, content }))
    const body = multipart([
      ...parts,
      FILE,
      ...Object.entries(LAST).map(([name, content]) => ({ name, content })),
    ])
    return visitor.get('/', {
      method: 'POST',
      body,
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, origin: 'http://localhost' },
    })
  }

  const PLACES: [string, Fails, OutageCode][] = [
    ...OUTAGES,
    [
      'files cannot be stored',
      (operation) => (operation.startsWith('files.') ? away('files_unreachable') : null),
      'files_unreachable',
    ],
    [
      'the create itself is refused',
      (operation) => (operation === 'pushes.createPush' ? away() : null),
      'overloaded',
    ],
  ]

  test.each(PLACES)(
    'is shown again with all fields, even those after the files, while %s',
    async (_name, fails, code) => {
      const form = formOf((await at.bob.get('/')).text, '/')
      const fields: Record<string, string> = {
        ...fieldsOf(form),
        'push[kind]': 'file',
        'push[payload]': 'before the files',
      }
      for (const name of [...Object.keys(LAST), 'push[files][]']) delete fields[name]
      at.store.failWith(fails)
      const answer = await sendWithFile(at.bob, fields)
      expect(answer.status).toBe(503)
      expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 61)
      expect(answer.text).toContain(say(`outage_${code}`))
      expect(answer.text).toContain(say('create_outage'))
      const again = fieldsOf(formOf(answer.text, '/'))
      expect(again).toMatchObject({ ...LAST, 'push[payload]': 'before the files' })
      expect(again['push[idempotency_key]']).toBe(fields['push[idempotency_key]'])
      at.store.heal()
      const created = await sendWithFile(
        at.bob,
        Object.fromEntries(
          Object.entries(again).filter(([name]) => !(name in LAST) && name !== 'push[files][]'),
        ),
      )
      expect(created.status).toBe(303)
      expect(elementsIn((await at.bob.get('/pushes')).text, '[name="push"]')).toHaveLength(1)
    },
  )

  test('keeps what another app has shared with it', async () => {
    const parts = [
      { name: 'text', content: SECRET },
      { name: 'title', content: 'a title' },
    ]
    at.store.failWith(NOTHING)
    const answer = await at.bob.get('/share', {
      method: 'POST',
      body: multipart(parts),
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, origin: 'http://localhost' },
    })
    expect(answer.status).toBe(503)
    const fields = fieldsOf(formOf(answer.text, '/'))
    expect(fields['push[payload]']).toBe(SECRET)
    at.store.heal()
    expect((await at.bob.post('/', fields)).status).toBe(303)
  })
})
