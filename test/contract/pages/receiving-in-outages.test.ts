// The page of a secret link during an outage: it says what happened to the secret, and offers its form again.

import { describe, expect, test } from 'bun:test'
import { DomainError } from '../../../src/domain/errors.ts'
import { wordsOf } from '../../../src/words/words.ts'
import { attributesIn, fieldsOf, formOf } from '../../support/page-facts.ts'
import { away, NOTHING, OUTAGES, useOutages } from './outages.ts'

const SECRET = 'typed passphrase'
const { say } = wordsOf('en')
const at = useOutages()
let urlToken = ''

describe('the page of a secret link', () => {
  const views = async () => (await at.api.retrieve(urlToken)).body.views_remaining

  test.each(OUTAGES)('says that nothing was opened or used up while %s', async (_name, fails) => {
    urlToken = (await at.api.create({ payload: 'the payload', expire_after_views: 5 })).url_token
    const path = `/p/${urlToken}/r`
    const form = formOf((await at.people.get(path)).text, path)
    at.store.failWith(fails)
    const answer = await at.people.post(path, fieldsOf(form))
    expect(answer.status).toBe(503)
    expect(answer.text).toContain(say('receive_outage'))
    expect(answer.text).not.toContain('the payload')
    at.store.heal()
    const [back = ''] = attributesIn(answer.text, 'main a[href^="/p/"]', 'href')
    const opened = await at.people.post(path, fieldsOf(formOf((await at.people.get(back)).text, path)))
    expect([opened.status, opened.text.includes('the payload')]).toEqual([200, true])
    expect(await views()).toBe(3)
  })

  test('says that nothing was opened, even if the page itself cannot be shown', async () => {
    urlToken = (await at.api.create({ payload: 'x' })).url_token
    at.store.failWith(NOTHING)
    const answer = await at.people.get(`/p/${urlToken}`)
    expect([answer.status, answer.text.includes(say('receive_outage'))]).toEqual([503, true])
  })

  test('does not promise that no view was used up if the outcome is unknown', async () => {
    urlToken = (await at.api.create({ payload: 'x' })).url_token
    const path = `/p/${urlToken}/r`
    const form = formOf((await at.people.get(path)).text, path)
    const lost = new DomainError('overloaded', 'lost', { isInDoubt: true })
    at.store.failWith((operation) => (operation.startsWith('pushes.claim') ? lost : null))
    const { text } = await at.people.post(path, fieldsOf(form))
    expect(text).toContain(say('receive_outage_doubt'))
    expect(text).not.toContain(say('receive_outage'))
  })

  test('promises that no view was used up if only an earlier step has an unknown outcome', async () => {
    urlToken = (await at.api.create({ payload: 'x', passphrase: SECRET })).url_token
    const path = `/p/${urlToken}/r`
    const lost = new DomainError('overloaded', 'lost', { isInDoubt: true })
    for (const step of ['nonces.isSpent', 'pushes.refusePassphrase']) {
      const form = formOf((await at.people.get(path)).text, path)
      at.store.failWith((operation) => (operation === step ? lost : null))
      const { status, text } = await at.people.post(path, { ...fieldsOf(form), passphrase: 'wrong' })
      at.store.heal()
      expect([step, status, text.includes(say('receive_outage'))]).toEqual([step, 503, true])
    }
  })

  test('counts a wrong passphrase once, even if the next read fails', async () => {
    urlToken = (await at.api.create({ payload: 'x', passphrase: SECRET })).url_token
    const path = `/p/${urlToken}/r`
    const form = formOf((await at.people.get(path)).text, path)
    at.store.failWith((operation) => (operation === 'pushes.findPush' ? away() : null))
    const answer = await at.people.post(path, { ...fieldsOf(form), passphrase: 'wrong' })
    expect([answer.status, answer.text.includes(say('passphrase_wrong'))]).toEqual([422, true])
  })

  test('saves a shown text without asking the store', async () => {
    urlToken = await at.createOwned({ payload: 'kept text' })
    const path = `/p/${urlToken}/r`
    const shown = await at.ann.post(path, fieldsOf(formOf((await at.ann.get(path)).text, path)))
    at.store.failWith(NOTHING)
    const save = `/p/${urlToken}/save`
    const saved = await at.ann.post(save, fieldsOf(formOf(shown.text, save)))
    expect([saved.status, saved.text]).toEqual([200, 'kept text'])
  })

  test('does not promise that a secret is kept if it may have been deleted', async () => {
    urlToken = (await at.api.create({ payload: 'x', expire_after_views: 5 })).url_token
    const path = `/p/${urlToken}/r`
    const shown = await at.people.post(path, fieldsOf(formOf((await at.people.get(path)).text, path)))
    const action = `/p/${urlToken}/expire`
    const lost = new DomainError('overloaded', 'lost', { isInDoubt: true })
    at.store.failWith((operation) => (operation.startsWith('nonces.') ? null : lost))
    const answer = await at.people.post(action, fieldsOf(formOf(shown.text, action)))
    expect([answer.status, answer.text.includes(say('outage_doubt'))]).toEqual([503, true])
    expect(answer.text).toContain(`href="/p/${urlToken}"`)
    expect(answer.text).not.toContain(say('receive_outage'))
  })
})
